import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** What we wrote is small; what somebody else put in its place must not fill our memory. */
const mostBytes = 2 ** 20;
const [ivBytes, tagBytes] = [12, 16];

/** A value in as few letters as it goes. */
export function packed(value: unknown): string {
  return brotliCompressSync(JSON.stringify(value)).toString('base64');
}

/** Fails when it is none of ours. */
export function unpacked(text: string): unknown {
  return JSON.parse(
    brotliDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: mostBytes }).toString('utf8'),
  );
}

/** A value that only who has the secret can read: AES-256-GCM, the key by HKDF. */
export function sealed(secret: string, value: unknown): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), iv);
  const content = Buffer.concat([cipher.update(brotliCompressSync(JSON.stringify(value))), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
}

/** Null when it was sealed with another secret, as after the token was exchanged. */
export function unsealed(secret: string, text: string): unknown {
  const bytes = Buffer.from(text, 'base64');
  try {
    const iv = bytes.subarray(0, ivBytes);
    const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), iv, { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const content = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
    return JSON.parse(brotliDecompressSync(content, { maxOutputLength: mostBytes }).toString('utf8'));
  } catch {
    return null;
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'innkeeper: secrets of a seed', 32));
}
