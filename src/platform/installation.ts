import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Queryable, type Statement, statement } from './database/index.ts';
import { createSeal, readSecretKey, type Seal } from './seal.ts';

/** Something that waits sealed in the database, and what it is bound to. */
export interface SealedValue {
  sealed: Buffer;
  context: string;
}

/** Offers sealed values of a room, to prove a key by. */
export type SealedSource = Statement<SealedValue, { limit: number }>;

const fingerprintOfKey = statement<{ key_fingerprint: Buffer | null }>(
  'installation.fingerprint',
  'select key_fingerprint from installation',
);
const rememberKey = statement<never, { fingerprint: Buffer }>(
  'installation.rememberKey',
  `insert into installation (key_fingerprint) values (:fingerprint)
   on conflict (only_row) do update set key_fingerprint = excluded.key_fingerprint
   where installation.key_fingerprint is null`,
);
const forgetKey = statement(
  'installation.forgetKey',
  `insert into installation (key_fingerprint) values (null)
   on conflict (only_row) do update set key_fingerprint = null`,
);

const noteOfBackup = statement<{ is_backed_up: boolean }>(
  'installation.isBackedUp',
  'select exists (select from installation where backed_up_at is not null) as is_backed_up',
);

const hasTables = statement<{ has: boolean }>(
  'installation.hasTables',
  `select to_regclass('installation') is not null as has`,
);
// A database from before there was a fingerprint has no such row, and a worker that took a number.
const hasTraces = statement<{ has: boolean }>(
  'installation.hasTraces',
  'select exists (select from installation) or (select is_called from worker_numbers) as has',
);

/** Whether the product was ever started on this database, which may be anybody's. */
export async function wasStarted(db: Queryable): Promise<boolean> {
  return (await db.one(hasTables)).has && (await db.one(hasTraces)).has;
}

/** Whether a backup was ever made, as the command that makes them notes. */
export async function isBackedUp(db: Queryable): Promise<boolean> {
  return (await db.one(noteOfBackup)).is_backed_up;
}

/** The secret key is not the one this database was filled with; the message says what to do. */
export class WrongSecretKey extends Error {}

/** Of each source: more than one, for the few that a key before this one may have sealed. */
const provedBy = 20;

/**
 * The seal of this installation, with the key from the environment or from DATA_DIR, where the first start makes it.
 * The database remembers the key's fingerprint: with another key nothing sealed would open, and every first password
 * and stored answer would fail at the moment a customer needs it. A database from before there was a fingerprint has
 * the key proved by what is sealed in it. Throws {@link WrongSecretKey}.
 */
export async function openSeal(
  db: Queryable,
  dataDir: string,
  fromEnvironment: string | null,
  sources: readonly SealedSource[],
): Promise<Seal> {
  const installation = await db.maybe(fingerprintOfKey);
  const sealed = installation === null ? await sealedIn(db, sources) : [];
  const known = installation?.key_fingerprint ?? null;
  const file = join(dataDir, 'secret.key');
  if ((known !== null || sealed.length > 0) && fromEnvironment === null && !existsSync(file)) {
    throw new WrongSecretKey(`This database has a secret key, and ${file} is not there. ${remedy}`);
  }
  const seal = createSeal(readSecretKey(dataDir, fromEnvironment));
  const fingerprint = seal.fingerprint('secret key');
  const isProved = sealed.length === 0 || sealed.some((value) => opens(seal, value));
  if (isProved && known === null) await db.run(rememberKey, { fingerprint });
  // Read again: of two first starts at once one was first.
  const remembered = isProved ? (await db.one(fingerprintOfKey)).key_fingerprint : null;
  if (remembered?.equals(fingerprint)) return seal;
  const source = fromEnvironment === null ? file : 'SECRET_KEY';
  throw new WrongSecretKey(
    `The key in ${source} is not the one that this database was filled with. ${remedy}`,
  );
}

const remedy =
  'Put the key of your backup back: the file secret.key in DATA_DIR, or SECRET_KEY where several processes share a ' +
  'database. If it is lost for good, "npm run innkeeper -- forget-key" lets the next start make a new one; what was ' +
  'sealed with the old one stays closed, such as first passwords of machines that are not delivered yet.';

async function sealedIn(db: Queryable, sources: readonly SealedSource[]): Promise<SealedValue[]> {
  const found: SealedValue[] = [];
  for (const source of sources) found.push(...(await db.many(source, { limit: provedBy })));
  return found;
}

function opens(seal: Seal, { sealed, context }: SealedValue): boolean {
  try {
    seal.open(sealed, context);
    return true;
  } catch {
    return false; // another key sealed it, whatever the words of the cipher are
  }
}

/** Has the next start take whatever key it finds, or make one: that there is none is remembered, too. */
export async function forgetSecretKey(db: Queryable): Promise<void> {
  await db.run(forgetKey);
}
