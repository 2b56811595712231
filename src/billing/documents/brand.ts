import type { Brand } from '../../events/index.ts';
import type { Context } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { company } from './company.ts';

/** What mails show of the company. Until staff has said its name, it is called as the sender of mails is. */
export async function readBrand(ctx: Context): Promise<Brand> {
  const said = await readSettings(ctx, company);
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
    name: said.name || sender,
    colour: said.colour,
    imprint: imprint.filter((line): line is string => Boolean(line)),
  };
}
