import { Type } from 'typebox';
import { fail } from '../errors.ts';

const pattern = '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$';
const message = 'must be one line of text, and not blank';
const oneLine = new RegExp(pattern, 'u');

/** A name of somebody or something. With a line break in it, it would begin lines of its own in mails and on papers. */
export const line = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern, 'x-message': message });

/** The same for a field that was released without saying so. `invalid_request`. */
export function requireLine(field: string, text: string): void {
  if (!oneLine.test(text)) throw fail('invalid_request', { details: [{ field, message }] });
}
