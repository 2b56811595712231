import { type TStringOptions, Type } from 'typebox';
import { fail } from '../errors.ts';

// No control characters and no line breaks of Unicode's own. Written out, since `\p{Cc}` means something else to
// clients that read a pattern without the flag `u`, and nothing at all to Python.
const inLine = '[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]';
const pattern = `^${inLine}*[^\\s\\u0000-\\u001F\\u007F-\\u009F]${inLine}*$`;
const message = 'must be one line of text, and not blank';
const oneLine = new RegExp(pattern, 'u');

/** A name of somebody or something. With a line break in it, it would begin lines of its own in mails and on papers. */
export const line = (maxLength: number, options: TStringOptions = {}) =>
  Type.String({ minLength: 1, maxLength, pattern, 'x-message': message, ...options });

/** The same, and it may be blank: for what is mended rather than refused. */
export const lineOrBlank = (maxLength: number, options: TStringOptions = {}) =>
  line(maxLength, { pattern: `^${inLine}*$`, 'x-message': 'must be one line of text', ...options });

/** The same for a field that was released without saying so. `invalid_request`. */
export function requireLine(field: string, text: string): void {
  if (!oneLine.test(text)) throw fail('invalid_request', { details: [{ field, message }] });
}
