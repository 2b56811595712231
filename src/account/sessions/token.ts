import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Seal } from '../../platform/index.ts';
import { bytesOfToken, isWhole, randomToken, tokenOf } from '../tokens.ts';

const sessionScheme = 'ins_';
const deviceScheme = 'ind_';

/** What a session's cookie holds; it works in the header `token` too. */
export const newSessionToken = () => randomToken(sessionScheme);

/** Random bytes, by which the database knows the browser; whose it is; and what proves that we said so. */
const deviceRandom = 12;
const deviceOwner = 4;

/** What a browser keeps to be known again. It opens nothing. */
export function newDeviceToken(seal: Seal, userId: number): string {
  const owner = seal.fingerprint(`device of ${userId}`).subarray(0, deviceOwner);
  const said = Buffer.concat([randomBytes(deviceRandom), owner]);
  return tokenOf(deviceScheme, Buffer.concat([said, proofOf(seal, said)]));
}

/**
 * Whose browser it is, as a name that counts for all of theirs; null when we never gave it this token. Without the database:
 * it is asked before anything else is known of a request.
 */
export function deviceOwnerOf(seal: Seal, token: string): string | null {
  const bytes = bytesOfToken(deviceScheme, token);
  const said = bytes.subarray(0, deviceRandom + deviceOwner);
  if (!timingSafeEqual(proofOf(seal, said), bytes.subarray(said.length))) return null;
  return said.subarray(deviceRandom).toString('hex');
}

function proofOf(seal: Seal, said: Buffer): Buffer {
  return seal.fingerprint(Buffer.concat([Buffer.from('device '), said])).subarray(0, 8);
}

/** Whether this can be a session's token at all. */
export function looksLikeSession(text: string): boolean {
  return isWhole(sessionScheme, text);
}

export function looksLikeDevice(text: string): boolean {
  return isWhole(deviceScheme, text);
}

/** What the database keeps of a token. It has 96 random bits at least, so one round of SHA-256 is enough. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
