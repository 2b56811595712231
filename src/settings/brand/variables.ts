import { contrast } from './shade.ts';

/** Colours of the dashboard that a provider may set; each has one of its own in each theme. */
export const colours = ['page', 'line', 'text', 'quiet'] as const;
export const themes = ['light', 'dark'] as const;

type Name = (typeof colours)[number];
export type Theme = (typeof themes)[number];
/** What was set, by theme. */
export type Variables = Record<Theme, Partial<Record<Name, string>>>;

/** What counts where nothing was set. */
export const usual: Record<Theme, Record<Name, string>> = {
  light: { page: '#ffffff', line: '#dee2e6', text: '#000000', quiet: '#5b6370' },
  dark: { page: '#242424', line: '#424242', text: '#c9c9c9', quiet: '#a9b0bb' },
};
/**
 * What stands on pages besides text of these colours, such as the accent and mistakes, was chosen for white and for
 * dark grey: a page has to be nearly so, seen against black and against white.
 */
const pages: Record<Theme, { against: string; least: number }> = {
  light: { against: '#000000', least: 18.5 },
  dark: { against: '#ffffff', least: 13.5 },
};
const readable = 4.5;

/** A declaration: `--page-light: #fffdf7;`. */
const declaration = /^--([a-z]+)-(light|dark)\s*:\s*(#[0-9a-f]{6})\s*;?$/i;
const comment = /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g;

/**
 * Reads a file of CSS variables. It is a list of declarations of names that are known, with colours as values: no selector, no
 * function and no address can stand in it, so nothing of it runs or is fetched. Gives what is wrong with the first line that
 * is none.
 */
export function readVariables(css: string): { variables: Variables } | { problem: string } {
  const variables: Variables = { light: {}, dark: {} };
  for (const line of css.replaceAll(comment, '').split(/[\n;]/)) {
    const text = line.trim();
    if (text === '') continue;
    const [, name = '', theme = '', value = ''] = declaration.exec(text) ?? [];
    const known = colours.find((each) => each === name);
    if (known === undefined)
      return { problem: `must be lines such as --page-light: #fffdf7; and not ${text.slice(0, 60)}` };
    variables[theme as Theme][known] = value.toLowerCase();
  }
  const problem = themes.map((theme) => unreadable(theme, variables[theme])).find((each) => each !== null);
  return problem ? { problem } : { variables };
}

/** Why text could not be read in a theme; null when all can. */
function unreadable(theme: Theme, set: Partial<Record<Name, string>>): string | null {
  const now = { ...usual[theme], ...set };
  const { against, least } = pages[theme];
  if (contrast(now.page, against) < least)
    return `--page-${theme} is too ${theme === 'light' ? 'dark' : 'light'} for what stands on it`;
  for (const above of ['text', 'quiet'] as const)
    if (contrast(now[above], now.page) < readable)
      return `--${above}-${theme} cannot be read on --page-${theme}: their contrast is below ${readable} to 1`;
  return null;
}
