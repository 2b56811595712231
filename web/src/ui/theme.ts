import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
} from '@mantine/core';

/** A green that reads on white (5.9 : 1) and, lightened, on black. */
const brand: MantineColorsTuple = [
  '#e6f6f0',
  '#c9eadd',
  '#9ad8bf',
  '#66c49f',
  '#3db384',
  '#22a872',
  '#0f8f5f',
  '#0b7d53',
  '#0b6e4f',
  '#075a40',
];

export const theme = createTheme({
  colors: { brand },
  primaryColor: 'brand',
  // The shades that read: Mantine's own choice fails the contrast of WCAG 2.2 AA.
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  luminanceThreshold: 0.18,
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
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

/** Quiet text has to be read too. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b6370',
    '--mantine-color-placeholder': '#666e7a',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-anchor': '#075a40',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b0bb',
    '--mantine-color-placeholder': '#9aa1ac',
    '--mantine-color-error': '#ff9d94',
    '--mantine-color-anchor': '#66c49f',
  },
});
