// What has a place of its own between 128 and 159; the rest of a byte is what it is in Unicode.
const special = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const places = new Map([...special].map((char, at) => [char, 128 + at]));

/**
 * A text in Windows-1252. A letter that it lacks loses its accents (`ő` is `o`), and is a question mark if that does not help,
 * as is a sign: what only looks like `"` or `=` must not become one, since who wrote the text has seen to those already.
 */
export function windows1252(text: string): Buffer {
  const bytes: number[] = [];
  for (const char of text.normalize('NFC')) {
    const [plain = ''] = char.normalize('NFKD');
    bytes.push(placeOf(char) ?? (/[\p{L}\p{N}\p{Zs}]/u.test(plain) ? placeOf(plain) : null) ?? 63);
  }
  return Buffer.from(bytes);
}

function placeOf(char: string): number | null {
  const code = char.codePointAt(0) ?? 63;
  if (code < 128 || (code >= 160 && code < 256)) return code;
  // The five places that are empty would be control characters.
  return code < 160 ? null : (places.get(char) ?? null);
}
