import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
} from '@mantine/core';
import type { Brand } from '../data/brand.ts';

/** What of a brand decides how parts look. */
export type Look = Pick<Brand, 'accent_on_light' | 'accent_on_dark' | 'font' | 'radius'>;

/** Of each family one that every system has: no font is loaded from anywhere. */
export const families: Record<Brand['font'], string> = {
  system: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  humanist: 'Seravek, "Gill Sans Nova", Ubuntu, Calibri, "DejaVu Sans", "Source Sans Pro", sans-serif',
  grotesque: 'Bahnschrift, "DIN Alternate", "Franklin Gothic Medium", "Nimbus Sans", Arial, sans-serif',
  rounded:
    'ui-rounded, "Hiragino Maru Gothic ProN", Quicksand, Comfortaa, Manjari, "Arial Rounded MT", sans-serif',
  serif: '"Iowan Old Style", Charter, "Bitstream Charter", "Sitka Text", Cambria, "Noto Serif", serif',
};

/** How much white is in each lighter shade; the ninth is the accent as it reads on white, the tenth darker. */
const lighter = [0.92, 0.82, 0.66, 0.5, 0.38, 0.26, 0.16, 0.07];

function shadesOf(accent: string): MantineColorsTuple {
  const mixed = (share: number, with_: 0 | 255) =>
    `#${[1, 3, 5]
      .map((at) => {
        const part = Number.parseInt(accent.slice(at, at + 2), 16);
        return Math.round(part + (with_ - part) * share)
          .toString(16)
          .padStart(2, '0');
      })
      .join('')}`;
  const light = lighter.map((share) => mixed(share, 255));
  return [...light, accent, mixed(0.2, 0)] as unknown as MantineColorsTuple;
}

export function themeOf({ accent_on_light, font, radius }: Look) {
  return createTheme({
    colors: { brand: shadesOf(accent_on_light) },
    primaryColor: 'brand',
    // The shades that read: Mantine's own choice fails the contrast of WCAG 2.2 AA.
    primaryShade: { light: 8, dark: 8 },
    autoContrast: true,
    luminanceThreshold: 0.18,
    defaultRadius: radius,
    respectReducedMotion: true,
    fontFamily: families[font],
    fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace',
    headings: { fontWeight: '650' },
    variantColorResolver: (input) => {
      const colors = defaultVariantColorsResolver(input);
      if (input.variant !== 'light' && input.variant !== 'subtle') return colors;
      const color = input.color ?? 'brand';
      const dark = `color-mix(in srgb, var(--mantine-color-${color}-9) 65%, black)`;
      return { ...colors, color: `light-dark(${dark}, var(--mantine-color-${color}-2))` };
    },
    components: {
      Anchor: { defaultProps: { underline: 'always' } },
    },
  });
}

/** Quiet text has to be read too. */
export function variablesOf({ accent_on_dark }: Look, set: Brand['variables']): CSSVariablesResolver {
  return () => ({
    variables: {},
    light: {
      '--mantine-color-dimmed': '#5b6370',
      '--mantine-color-placeholder': '#666e7a',
      '--mantine-color-error': '#b3261e',
      // Also on the grey of a row that is pointed at.
      '--mantine-color-anchor': 'var(--mantine-color-brand-9)',
      ...coloursOf(set.light),
    },
    dark: {
      '--mantine-color-dimmed': '#a9b0bb',
      '--mantine-color-placeholder': '#9aa1ac',
      '--mantine-color-error': '#ff9d94',
      '--mantine-color-anchor': accent_on_dark,
      ...coloursOf(set.dark),
    },
  });
}

/** What the provider's variables are called by the library. */
const named = {
  page: '--mantine-color-body',
  line: '--mantine-color-default-border',
  text: '--mantine-color-text',
  quiet: '--mantine-color-dimmed',
} as const;

function coloursOf(set: Brand['variables']['light']): Record<string, string> {
  const names = Object.keys(named) as (keyof typeof named)[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const colour = set[name];
      return colour === undefined ? [] : [[named[name], colour]];
    }),
  );
}
