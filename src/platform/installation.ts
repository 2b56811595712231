import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Queryable, statement } from './database/index.ts';
import { createSeal, readSecretKey, type Seal } from './seal.ts';

const fingerprintOfKey = statement<{ key_fingerprint: Buffer }>(
  'installation.fingerprint',
  'select key_fingerprint from installation',
);
const rememberKey = statement<never, { fingerprint: Buffer }>(
  'installation.rememberKey',
  'insert into installation (key_fingerprint) values (:fingerprint) on conflict do nothing',
);
const forgetKey = statement('installation.forgetKey', 'delete from installation');

/** The secret key is not the one this database was filled with; the message says what to do. */
export class WrongSecretKey extends Error {}

/**
 * The seal of this installation, with the key from the environment or from DATA_DIR, where the first start makes it.
 * The database remembers the key's fingerprint: with another key nothing sealed would open, and every first password
 * and stored answer would fail at the moment a customer needs it. Throws {@link WrongSecretKey}.
 */
export async function openSeal(
  db: Queryable,
  dataDir: string,
  fromEnvironment: string | null,
): Promise<Seal> {
  const isNew = (await db.maybe(fingerprintOfKey)) === null;
  const file = join(dataDir, 'secret.key');
  if (!isNew && fromEnvironment === null && !existsSync(file)) {
    throw new WrongSecretKey(`This database has a secret key, and ${file} is not there. ${remedy}`);
  }
  const seal = createSeal(readSecretKey(dataDir, fromEnvironment));
  const fingerprint = seal.fingerprint('secret key');
  if (isNew) await db.run(rememberKey, { fingerprint });
  const known = await db.one(fingerprintOfKey); // of two first starts at once one was first
  if (known.key_fingerprint.equals(fingerprint)) return seal;
  const source = fromEnvironment === null ? file : 'SECRET_KEY';
  throw new WrongSecretKey(
    `The key in ${source} is not the one that this database was filled with. ${remedy}`,
  );
}

const remedy =
  'Put the key of your backup back: the file secret.key in DATA_DIR, or SECRET_KEY where several processes share a ' +
  'database. If it is lost for good, "npm run innkeeper -- forget-key" lets the next start make a new one; what was ' +
  'sealed with the old one stays closed, such as first passwords of machines that are not delivered yet.';

/** Has the next start take whatever key it finds, or make one. */
export async function forgetSecretKey(db: Queryable): Promise<void> {
  await db.run(forgetKey);
}
