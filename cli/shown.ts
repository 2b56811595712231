/**
 * Text of others for a terminal. What would move the cursor, change colours or turn the order of the letters around is
 * written out instead: a host name may hold anything.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

export function shown(text: string, keepsLines = false): string {
  return text.replace(unseen, (found) => (keepsLines && found === '\n' ? found : written(found)));
}

/** JSON that says the same, and holds nothing that a terminal would obey. */
export function shownJson(json: string): string {
  return json.replace(unseen, (found) => (/[\n\r\t]/.test(found) ? found : unit(found)));
}

function written(found: string): string {
  if (found === '\n') return '\\n';
  if (found === '\t') return '\\t';
  if (found === '\r') return '\\r';
  return unit(found);
}

function unit(found: string): string {
  return Array.from(
    { length: found.length },
    (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** How many columns of a terminal it takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += /\p{M}/u.test(letter) ? 0 : isWide(letter) ? 2 : 1;
  return width;
}

function isWide(letter: string): boolean {
  return /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/u.test(
    letter,
  );
}

/** As wide as that; what is longer ends in an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text + ' '.repeat(width - widthOf(text));
  let kept = '';
  for (const letter of text) {
    if (widthOf(kept + letter) > width - 1) break;
    kept += letter;
  }
  return `${kept}…${' '.repeat(Math.max(0, width - 1 - widthOf(kept)))}`;
}
