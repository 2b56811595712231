import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Keys and tokens: a prefix that says what it is, 32 random characters, and a checksum of what stands before it. */

const secretBytes = 24;
const checksumLength = 6;

/** A new one. The checksum spares the database a question about a typo. */
export function randomToken(scheme: string): string {
  const body = scheme + randomBytes(secretBytes).toString('base64url');
  return body + checksum(body);
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
