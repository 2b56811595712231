/**
 * A text for one field of one line: nothing in it breaks the line or moves a cursor, and it does not begin as a formula does,
 * for people open such files in a spreadsheet.
 */
export function plainText(text: string, length: number): string {
  const visible = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const harmless = /^[=+\-@|%＝＋－＠]/u.test(visible) ? `'${visible}` : visible;
  return [...harmless].slice(0, length).join('');
}
