import type { Context } from '../../platform/index.ts';
import { brand, readSettings } from '../../settings/index.ts';
import { company } from './company.ts';
import { logoOnPaper } from './logo.ts';
import type { Seller } from './parties.ts';

/** Who sells, as what is written now keeps it: with the logo of today. */
export async function readSeller(ctx: Context): Promise<Seller> {
  const [said, { logo_light: onLight, logo_dark: onDark }] = await Promise.all([
    readSettings(ctx, company),
    readSettings(ctx, brand),
  ]);
  return { ...said, logo: logoOnPaper(onLight, onDark) };
}
