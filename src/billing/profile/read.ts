import {
  type Context,
  forMany,
  type OrganizationContext,
  requireRow,
  statement,
} from '../../platform/index.ts';

/** Who an organization's invoices are made out to. What nobody has said yet is null. */
export interface Profile {
  kind: 'company' | 'person';
  /** Buys for no trade of its own. */
  consumer: boolean;
  /** Never null: without a name of its own, the organization's. */
  name: string;
  address_line1: string | null;
  address_line2: string | null;
  postal_code: string | null;
  city: string | null;
  region: string | null;
  /** ISO 3166-1. */
  country: string | null;
  /** Where a consumer says to live: evidence for the tax beside the address. */
  declared_country: string | null;
  /** A VAT id within the European Union, with its country in front; elsewhere any number of a tax office. */
  tax_id: string | null;
  /** ISO 639-1, for documents; null: by the country. */
  language: string | null;
  /** Where mails about invoices go instead of whoever ordered; null: see `addressees.ts`. */
  email: string | null;
  /** What a public buyer is found by, such as a Leitweg-ID (EN 16931: BT-10). */
  routing_id: string | null;
  /** The buyer's own number of the order (BT-13). */
  order_number: string | null;
  /** Null while nobody has said anything. */
  updated_at: Date | null;
}

// Of whoever has not said what they are, the law supposes that they are consumers.
const profileById = forMany(
  statement<Profile, { organizationId: number }>(
    'billing.profile',
    `select coalesce(p.kind, 'person') as kind, coalesce(p.consumer, true) as consumer, coalesce(p.name, o.name) as name,
     p.address_line1, p.address_line2, p.postal_code, p.city, p.region, coalesce(p.country, o.country) as country,
     p.declared_country, p.tax_id, p.language, p.email, p.routing_id, p.order_number, p.updated_at
   from organizations o left join billing_profiles p on p.organization_id = o.id where o.id = :organizationId`,
  ),
  { organizationId: 'bigint' },
);

/** The billing profile of an organization, as it stands today. `not_found`. */
export function profileOf(ctx: Context, organizationId: number): Promise<Profile> {
  return requireRow(ctx, profileById, { organizationId });
}

/** The billing profile of the caller's organization. */
export async function readProfile(ctx: OrganizationContext) {
  return { profile: await profileOf(ctx, ctx.organizationId) };
}
