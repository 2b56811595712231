import { createHash } from 'node:crypto';
import { isWhole, randomToken } from '../tokens.ts';

const sessionScheme = 'ins_';
const deviceScheme = 'ind_';

/** What a session's cookie holds; it works in the header `token` too. */
export const newSessionToken = () => randomToken(sessionScheme);

/** What a browser keeps to be known again. It opens nothing. */
export const newDeviceToken = () => randomToken(deviceScheme);

/** Whether this can be a session's token at all. */
export function looksLikeSession(text: string): boolean {
  return isWhole(sessionScheme, text);
}

export function looksLikeDevice(text: string): boolean {
  return isWhole(deviceScheme, text);
}

/** What the database keeps of a token. It has 192 random bits, so one round of SHA-256 is enough. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
