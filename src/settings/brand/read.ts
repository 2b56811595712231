import type { Context } from '../../platform/index.ts';
import { readSettings } from '../read.ts';
import { brand } from './section.ts';
import { onDark, onLight } from './shade.ts';
import { readVariables, type Variables } from './variables.ts';

/** Name and accent, as mails show them too. */
export type ReadLook = (ctx: Context) => Promise<{ name: string; colour: string | null }>;

/** Ours, until the provider has chosen one. */
const ownAccent = '#0b6e4f';

/** How the company looks to customers. */
export async function readLook(ctx: Context, readBrand: ReadLook) {
  const { logo_light, logo_dark, favicon, css, ...said } = await readSettings(ctx, brand);
  const { name, colour } = await readBrand(ctx);
  const accent = colour ?? ownAccent;
  const whereIs = (picture: string | null) => picture && `/api/brand/pictures/${picture}`;
  return {
    brand: {
      ...said,
      ...{ name, accent, accent_on_light: onLight(accent), accent_on_dark: onDark(accent) },
      logo_light: whereIs(logo_light ?? logo_dark),
      logo_dark: whereIs(logo_dark ?? logo_light),
      favicon: whereIs(favicon),
      variables: variablesIn(css),
    },
  };
}

/** What was set passed its check then; what a later version takes no more is left out. */
function variablesIn(css: string | null): Variables {
  const read = readVariables(css ?? '');
  return 'variables' in read ? read.variables : { light: {}, dark: {} };
}

/** Whether somebody may register who nobody has invited. */
export async function isOpenToAll(ctx: Context): Promise<boolean> {
  return (await readSettings(ctx, brand)).registration === 'everybody';
}
