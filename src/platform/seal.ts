import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import fs from 'node:fs';
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
  /** 32 bytes that this installation alone has, the same each time for a use. */
  seed(use: string): Buffer;
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
    seed: (use) => derive(`seed ${use}`),
  };
}

/** Reads the key of this installation, and makes it at the first start. Throws when its file holds no key. */
export function readSecretKey(dataDir: string, fromEnvironment: string | null): Buffer {
  if (fromEnvironment !== null) return Buffer.from(fromEnvironment, 'base64');
  const file = join(dataDir, 'secret.key');
  if (!fs.existsSync(file)) makeSecretKey(dataDir, file);
  const key = fs.readFileSync(file);
  if (key.length === keyBytes) return key;
  throw new Error(
    `${file} holds ${key.length} bytes, and the secret key has ${keyBytes}. Put the file of your backup back. ` +
      'Without a backup delete it: a new key is made, and what was sealed with the old one stays closed, such as ' +
      'first passwords of machines that are not delivered yet.',
  );
}

/** Of two first starts at the same time both go on with one key; after a power cut there is a whole one or none. */
function makeSecretKey(dataDir: string, file: string): void {
  fs.mkdirSync(dataDir, { recursive: true });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  fs.writeFileSync(temporary, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  try {
    fs.linkSync(temporary, file); // never replaces another one's
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.unlinkSync(temporary);
  }
  const directory = fs.openSync(dataDir, 'r');
  fs.fsyncSync(directory);
  fs.closeSync(directory);
}
