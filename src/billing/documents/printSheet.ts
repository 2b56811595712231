import type { Files } from '../../drivers/files/index.ts';
import type { Context } from '../../platform/index.ts';
import { readBrand } from './brand.ts';
import { readLogo } from './logo.ts';
import { press } from './press.ts';
import { readSeller } from './seller.ts';
import type { Sheet } from './sheet.ts';

/** Prints what the company says on paper about something else than money, as PDF/A-3 with its name and logo. */
export async function printSheet(ctx: Context, files: Files, sheet: Sheet): Promise<Buffer> {
  const known = await readSeller(ctx);
  // Until staff has said how the law calls the company it is called as customers know it.
  const seller = known.name === '' ? { ...known, name: (await readBrand(ctx)).name } : known;
  const logo = await readLogo(files, seller.logo);
  return press({ kind: 'sheet', sheet, seller, logo }, ctx.actor.userId);
}
