import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Encryption of the few secrets that must wait in the database, such as a machine's first password on its
 * way there. The key lives in DATA_DIR (or `SECRET_KEY` when several processes share a database), never in
 * the database: a dump alone gives nothing away.
 */
export interface Seal {
  /** AES-256-GCM; `context` names what the secret belongs to, and it opens for nothing else. */
  close(secret: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
  /** A keyed fingerprint, for comparing what must not be stored. */
  fingerprint(text: string | Buffer): Buffer;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export function createSeal(key: Buffer): Seal {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, '', `innkeeper ${use}`, keyBytes));
  const sealKey = derive('seal');
  const fingerprintKey = derive('fingerprint');
  return {
    close: (secret, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      const decipher = createDecipheriv('aes-256-gcm', sealKey, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      return (
        decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
      );
    },
    fingerprint: (text) => createHmac('sha256', fingerprintKey).update(text).digest(),
  };
}

/** Reads the key of this installation, and makes it at the first start. */
export function readSecretKey(dataDir: string, fromEnvironment: string | null): Buffer {
  if (fromEnvironment !== null) return Buffer.from(fromEnvironment, 'base64');
  const path = join(dataDir, 'secret.key');
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true });
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, randomBytes(keyBytes), { mode: 0o600 });
    renameSync(temporary, path);
  }
  return readFileSync(path);
}
