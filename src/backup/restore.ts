import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { syncFolder } from '../platform/host/durable.ts';
import { createSeal } from '../platform/index.ts';
import { digestOf, fileIn, unpack } from './archive.ts';
import { nameAside } from './aside.ts';
import { BackupError } from './failure.ts';
import { withWorkFolder } from './folder.ts';
import { loadBackup } from './load.ts';
import { keyFile, type Places, placeOf } from './make.ts';
import type { Manifest } from './manifest.ts';
import { withSession } from './session.ts';
import { listTables } from './tables.ts';

export interface RestoreOptions {
  file: string;
  url: string;
  dataDir: string;
  filesDir: string;
  /** SECRET_KEY, where it is set. */
  secretKey: string | null;
  /** Whether what is there may be put aside. */
  replace: boolean;
  now: Date;
}

export interface Restored {
  manifest: Manifest;
  /** Schema that holds what was in the database before; null when that was nothing. */
  asideSchema: string | null;
  /** Files of DATA_DIR that were there before, under their new names. */
  asideFiles: string[];
  /** Whether the database's secret key is nowhere to be found. */
  isKeyMissing: boolean;
}

/** The schema that a restore builds in, beside the one that is in use. */
const building = 'innkeeper_restore';

/**
 * Puts a backup into the database and into DATA_DIR. Everything is built and compared beside what is there, and takes
 * its place in one transaction at the end: a restore that fails or is cut off has changed nothing. What was there is
 * kept aside. Refuses a database in use, and one that is not empty unless `replace`.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { file, url, dataDir, replace, now } = options;
  const suffix = nameAside(now);
  return withWorkFolder(dataDir, async (folder) => {
    const manifest = await unpack(file, folder);
    const isKeyMissing = await checkKey(options, folder, manifest);
    const isEmpty = await withSession(url, 'public', async (client) => {
      await requireAlone(client);
      return (await listTables(client)).length === 0;
    });
    const inTheWay = await otherFiles(options, folder, manifest);
    if (!replace && (!isEmpty || inTheWay.length > 0)) throw inUse(options, isEmpty, inTheWay);

    await loadBackup(url, building, folder, manifest);
    await withSession(url, building, (client) =>
      client.query('insert into restores (made_at, restored_at) values ($1, $2)', [manifest.madeAt, now]),
    );
    const asideFiles = await putFiles(options, folder, manifest, inTheWay, suffix);
    await takePlace(url, isEmpty ? null : suffix);
    return { manifest, asideSchema: isEmpty ? null : suffix, asideFiles, isKeyMissing };
  });
}

function inUse(places: Places, isEmpty: boolean, inTheWay: string[]): BackupError {
  const what = [
    ...(isEmpty ? [] : ['the database is not empty']),
    ...inTheWay.map((name) => `${placeOf(places, name)} is there already and another than the backup's`),
  ];
  return new BackupError(
    `Nothing was restored: ${what.join(', and ')}. Restore into an empty database and an empty DATA_DIR, or say ` +
      '--replace: what is there is then put aside under another name, not deleted.',
  );
}

/** Returns whether there is no key at all; a wrong one is refused. */
async function checkKey(
  { secretKey, dataDir }: RestoreOptions,
  folder: string,
  { keyFingerprint, files }: Manifest,
): Promise<boolean> {
  if (keyFingerprint === null) return false;
  const read = (file: string) => fs.readFile(file).catch(() => null);
  const inBackup = files[keyFile] === undefined ? null : await read(fileIn(folder, keyFile));
  const [key, where] =
    secretKey === null
      ? [inBackup ?? (await read(path.join(dataDir, keyFile))), inBackup ? 'the backup' : dataDir]
      : [Buffer.from(secretKey, 'base64'), 'SECRET_KEY'];
  if (key === null) return true;
  if (createSeal(key).fingerprint('secret key').toString('hex') === keyFingerprint) return false;
  throw new BackupError(
    `Nothing was restored: the secret key in ${where} is not the one that the backup's database was filled with. ` +
      'Put the right one there; without it nothing that was sealed can be opened.',
  );
}

/** Refuses while anybody else is connected; a connection that has just ended may show for a moment. */
async function requireAlone(client: pg.Client): Promise<void> {
  for (let patience = 10; ; patience--) {
    const { rows } = await client.query<{ name: string }>(
      `select coalesce(nullif(application_name, ''), 'without a name') as name from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    if (rows.length === 0) return;
    if (patience === 0) {
      throw new BackupError(
        `Nothing was restored: ${rows.length} programs are connected to this database (` +
          `${[...new Set(rows.map(({ name }) => name))].join(', ')}). Stop the product and whatever else uses it.`,
      );
    }
    await sleep(200);
  }
}

/** Files of the backup that are there with other contents. */
async function otherFiles(places: Places, folder: string, { files }: Manifest): Promise<string[]> {
  const others: string[] = [];
  for (const name of Object.keys(files)) {
    const there = await digestOf(placeOf(places, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (there !== null && there !== (await digestOf(fileIn(folder, name)))) others.push(name);
  }
  return others;
}

async function putFiles(
  places: Places,
  folder: string,
  { files }: Manifest,
  inTheWay: string[],
  suffix: string,
): Promise<string[]> {
  const aside: string[] = [];
  for (const name of Object.keys(files)) {
    const place = placeOf(places, name);
    if (inTheWay.includes(name)) {
      await fs.rename(place, `${place}.${suffix}`);
      aside.push(`${place}.${suffix}`);
    }
    await fs.mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
    await fs.copyFile(fileIn(folder, name), `${place}.new`);
    await fs.chmod(`${place}.new`, 0o600);
    const written = await fs.open(`${place}.new`, 'r+');
    await written.sync().finally(() => written.close());
    await fs.rename(`${place}.new`, place);
    await syncFolder(path.dirname(place));
  }
  return aside;
}

/** Functions that say where they find their tables said the schema in which they were built, which has another name now. */
async function nameAnew(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p cross join unnest(p.proconfig) as setting
     where p.pronamespace = 'public'::regnamespace and setting like 'search_path=%'`,
  );
  for (const { name } of rows)
    await client.query(`alter function ${name} set search_path = pg_catalog, public, pg_temp`);
}

async function takePlace(url: string, aside: string | null): Promise<void> {
  await withSession(url, building, async (client) => {
    await requireAlone(client);
    await client.query('begin');
    await client.query(
      aside === null
        ? 'drop schema if exists public'
        : `alter schema public rename to ${pg.escapeIdentifier(aside)}`,
    );
    await client.query(`alter schema ${building} rename to public`);
    await nameAnew(client);
    await client.query('commit');
  });
}
