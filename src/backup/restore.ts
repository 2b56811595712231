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
import { forgetUnfinished, readPlace, readUnfinished, writeUnfinished } from './unfinished.ts';
import { writeRestore } from './writeRestore.ts';

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
 * its place in one transaction: a restore that fails before, or is cut off, has changed nothing. Files follow; one that is cut off
 * among them is finished by running it again. What was there is kept aside. Refuses a database in use, and one that is not
 * empty unless `replace`.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { file, url, dataDir, replace, now } = options;
  return withWorkFolder(dataDir, async (folder) => {
    const manifest = await unpack(file, folder);
    const isKeyMissing = await checkKey(options, folder, manifest);
    const { isEmpty, place } = await withSession(url, 'public', async (client) => {
      await requireAlone(client);
      await requireMovable(client);
      return {
        isEmpty: (await listTables(client)).length === 0,
        place: await readPlace(client),
      };
    });
    const inTheWay = await otherFiles(options, folder, manifest);
    const begun = await readUnfinished(dataDir);
    const isHalfDone = begun !== null && begun.madeAt === manifest.madeAt && begun.place === place;
    if (!isHalfDone && !replace && (!isEmpty || inTheWay.length > 0)) throw inUse(options, isEmpty, inTheWay);

    const suffix = isHalfDone ? begun.suffix : nameAside(now);
    if (!isHalfDone) {
      await loadBackup(url, building, folder, manifest);
      await withSession(url, building, (client) => writeRestore(client, new Date(manifest.madeAt), now));
      await takePlace(url, suffix, (taken) =>
        writeUnfinished(dataDir, { madeAt: manifest.madeAt, suffix, place: taken }),
      );
    }
    const asideFiles = await putFiles(options, folder, manifest, inTheWay, suffix).catch((error: Error) => {
      throw new BackupError(
        `The database is restored, and its files are not: ${error.message}. Run the same command again before you start ` +
          'the product; it goes on where it was.',
        { cause: error },
      );
    });
    await forgetUnfinished(dataDir);
    const asideSchema = (await isThere(url, suffix)) ? suffix : null;
    return { manifest, asideSchema, asideFiles, isKeyMissing };
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

/**
 * What is in the schema `public` is put aside, whatever it is, and what was built takes its place. Extensions stay where they are
 * looked for. `before` is told which schema takes the place, by what PostgreSQL calls it, before it does.
 */
async function takePlace(
  url: string,
  aside: string,
  before: (place: string) => Promise<void>,
): Promise<void> {
  await withSession(url, building, async (client) => {
    await requireAlone(client);
    const {
      rows: [built],
    } = await client.query<{ place: string }>(
      `select oid::text as place from pg_namespace where nspname = $1`,
      [building],
    );
    await before(built?.place ?? '');
    await client.query('begin');
    const extensions = await extensionsIn(client);
    await client.query('create schema if not exists public');
    await client.query(`alter schema public rename to ${pg.escapeIdentifier(aside)}`);
    await client.query(`alter schema ${building} rename to public`);
    for (const { name } of extensions)
      await client.query(`alter extension ${pg.escapeIdentifier(name)} set schema public`);
    const { rows } = await client.query(
      `select from pg_depend where refclassid = 'pg_namespace'::regclass and refobjid = $1::regnamespace limit 1`,
      [aside],
    );
    if (rows.length === 0) await client.query(`drop schema ${pg.escapeIdentifier(aside)}`);
    await nameAnew(client);
    await client.query('commit');
  });
}

interface Extension {
  name: string;
  /** Whether it lets itself be moved to another schema, by us. */
  moves: boolean;
}

async function extensionsIn(client: pg.Client): Promise<Extension[]> {
  const { rows } = await client.query<Extension>(
    // Of an extension that anybody may create, what it consists of is the server's all the same.
    `select extname as name, extrelocatable and pg_has_role(extowner, 'usage') and not exists (
       select from pg_depend d
       left join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
       left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
       left join pg_type t on d.classid = 'pg_type'::regclass and t.oid = d.objid
       where d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
         and not pg_has_role(coalesce(p.proowner, c.relowner, t.typowner, e.extowner), 'usage')) as moves
     from pg_extension e where extnamespace = to_regnamespace('public') order by extname`,
  );
  return rows;
}

/** Refuses before anything is loaded what could not be put aside at the end of it. */
async function requireMovable(client: pg.Client): Promise<void> {
  const stuck = (await extensionsIn(client)).filter(({ moves }) => !moves).map(({ name }) => name);
  if (stuck.length === 0) return;
  throw new BackupError(
    `Nothing was restored: the schema public of this database holds the extension ${stuck.join(', ')}, which we may not ` +
      'move. Drop it, create it in a schema of its own (create schema extensions; create extension … schema extensions), and ' +
      'run this again.',
  );
}

async function isThere(url: string, schema: string): Promise<boolean> {
  return withSession(url, 'public', async (client) => {
    const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema]);
    return rows.length > 0;
  });
}
