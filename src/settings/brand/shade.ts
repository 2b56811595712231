type Colour = readonly [red: number, green: number, blue: number];

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
/** The page of the dark theme, at its lightest. */
const dark: Colour = [46, 46, 46];
/** What WCAG 2.2 AA asks of text. */
const readable = 4.5;
const steps = 100;

/** The accent as it reads on white, and under white text: itself, or the nearest darker shade. */
export function onLight(accent: string): string {
  return moved(accent, black, white);
}

/** The accent as it reads on the dark theme: itself, or the nearest lighter shade. */
export function onDark(accent: string): string {
  return moved(accent, white, dark);
}

function moved(accent: string, towards: Colour, background: Colour): string {
  const from = partsOf(accent);
  for (let step = 0; step < steps; step += 1) {
    const shade = mixed(from, towards, step / steps);
    if (contrast(shade, background) >= readable) return hexOf(shade);
  }
  return hexOf(towards);
}

/** How far apart two colours are for the eye: the contrast of WCAG 2, from 1 to 21. */
export function contrast(one: Colour | string, other: Colour | string): number {
  const [brighter = 0, darker = 0] = [one, other]
    .map((colour) => luminance(typeof colour === 'string' ? partsOf(colour) : colour))
    .sort((a, b) => b - a);
  return (brighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(from: Colour, towards: Colour, share: number): Colour {
  const at = (part: 0 | 1 | 2) => Math.round(from[part] + (towards[part] - from[part]) * share);
  return [at(0), at(1), at(2)];
}

function partsOf(colour: string): Colour {
  const at = (from: number) => Number.parseInt(colour.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
}

function hexOf(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
