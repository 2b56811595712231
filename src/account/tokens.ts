import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Keys and tokens: a prefix that says what it is, 32 random characters, and a checksum of what stands before it. */

const secretBytes = 24;
const checksumLength = 6;

/** A new one. The checksum spares the database a question about a typo. */
export function randomToken(scheme: string): string {
  return tokenOf(scheme, randomBytes(secretBytes));
}

/** One that holds these 24 bytes, … */
export function tokenOf(scheme: string, bytes: Buffer): string {
  const body = scheme + bytes.toString('base64url');
  return body + checksum(body);
}

/** … and those that it holds. */
export function bytesOfToken(scheme: string, text: string): Buffer {
  return Buffer.from(text.slice(scheme.length, -checksumLength), 'base64url');
}

/** Whether this is one of this kind, as far as one can tell by looking. */
export function isWhole(scheme: string, text: string): boolean {
  if (!text.startsWith(scheme) || text.length !== scheme.length + 32 + checksumLength) return false;
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

function checksum(text: string): string {
  return crc32(text)
    .toString(36)
    .padStart(checksumLength + 1, '0')
    .slice(-checksumLength);
}
