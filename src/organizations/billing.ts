/**
 * What an organization `o` shows of its billing profile `p`, which is where they are said. One that has said nothing yet
 * has the country that it was founded with.
 */
export const shownOfProfile = `
  nullif(concat_ws(', ', p.address_line1, p.address_line2, nullif(concat_ws(' ', p.postal_code, p.city), ''), p.region,
    p.country), '') as billing_address, p.tax_id`;

export const countryOfProfile = 'coalesce(p.country, o.country) as country';

export const joinProfile = 'left join billing_profiles p on p.organization_id = o.id';
