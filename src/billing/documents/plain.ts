/**
 * Text of strangers as it can be drawn: no control characters, nothing that turns the direction of what stands beside
 * it, no heap of accents on one letter. Lines stay lines.
 */
export function plainLines(text: string): string[] {
  return text
    .toWellFormed()
    .normalize('NFC')
    .split(/\r\n?|[\n\v\f\u0085\u2028\u2029]/)
    .map(plainLine)
    .filter((line) => line !== '');
}

/** The same on one line. */
export function plain(text: string): string {
  return plainLines(text).join(' ');
}

function plainLine(line: string): string {
  return line
    .replaceAll(/\p{Z}|\t/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]|\p{Variation_Selector}/gu, '')
    .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}
