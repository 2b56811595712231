/** Whether what is drawn in a brand's accent can be read, whatever the accent is. */
import { expect, it } from 'vitest';
import { familyOf } from '../src/settings/brand/section.ts';
import { contrast, onDark, onLight } from '../src/settings/brand/shade.ts';
import { families, themeOf } from './src/ui/theme.ts';

const readable = 4.5;
const parts = ['00', '33', '66', '99', 'cc', 'ff'];
const accents = parts.flatMap((red) =>
  parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
);

const partsOf = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
/** So much of one colour on another, as browsers mix them. */
function mixed(one: string, share: number, other: string): string {
  const [from, to] = [partsOf(one), partsOf(other)];
  return `#${from
    .map((part, at) => Math.round(part * share + (to[at] ?? 0) * (1 - share)))
    .map((part) => part.toString(16).padStart(2, '0'))
    .join('')}`;
}

it('has the families of fonts that mails have', () => {
  const quoted = Object.entries(families).map(([name, family]) => [name, family.replaceAll('"', "'")]);
  expect(Object.fromEntries(quoted)).toEqual(familyOf);
});

it('moves every accent until it reads in both themes, on light and subtle buttons as in links', () => {
  const faults: string[] = [];
  for (const accent of accents) {
    const light = onLight(accent);
    const { colors } = themeOf({
      ...{ accent_on_light: light, accent_on_dark: onDark(accent), font: 'system', radius: 8 },
    });
    const shades = (colors?.brand ?? []) as readonly string[];
    const [pale = '', filled = '', deep = ''] = [shades[2], shades[8], shades[9]];
    // As `variantColorResolver` has it, on the page and on the tint of a light button.
    const ink = mixed(deep, 0.65, '#000000');
    const pairs = {
      'white on a filled button': [filled, '#ffffff'],
      'a link on white': [deep, '#ffffff'],
      'a link on the dark theme': [onDark(accent), '#242424'],
      'a subtle button on white': [ink, '#ffffff'],
      'a light button on white': [ink, mixed(filled, 0.1, '#ffffff')],
      'a light button, pointed at, on white': [ink, mixed(filled, 0.12, '#ffffff')],
      'a subtle button on the dark theme': [pale, '#242424'],
      'a light button on the dark theme': [pale, mixed(filled, 0.15, '#242424')],
      'a light button on a card of the dark theme': [pale, mixed(filled, 0.2, '#2e2e2e')],
    };
    for (const [name, [one = '', other = '']] of Object.entries(pairs))
      if (contrast(one, other) < readable)
        faults.push(`${accent}: ${name}, ${contrast(one, other).toFixed(2)}`);
  }
  expect(faults).toEqual([]);
});
