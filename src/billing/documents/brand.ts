import type { Brand } from '../../events/index.ts';
import type { Context } from '../../platform/index.ts';
import { brand, familyOf, pictureFile, readSettings } from '../../settings/index.ts';
import { company } from './company.ts';
import { logoOnPaper } from './logo.ts';

/**
 * What mails and the dashboard show of the company: the name that customers know it by, else that of the law. Until staff
 * has said either, it is called as the sender of mails is.
 */
export async function readBrand(ctx: Context): Promise<Brand> {
  const said = await readSettings(ctx, company);
  const { name, logo_light: onLight, logo_dark: onDark, font, radius } = await readSettings(ctx, brand);
  const logo = logoOnPaper(onLight, onDark);
  const place = [said.postal_code, said.city].filter(Boolean).join(' ');
  const imprint = [
    said.address_line1,
    said.address_line2,
    place,
    said.country,
    said.email,
    said.phone,
    said.website,
  ];
  const sender = ctx.config.mailFrom.replace(/<[^<>]*>$/, '').trim();
  return {
    name: name ?? (said.name || sender),
    colour: said.colour,
    logo: logo === null ? null : pictureFile(logo),
    font: familyOf[font],
    radius,
    imprint: imprint.filter((line): line is string => Boolean(line)),
  };
}
