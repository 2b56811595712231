import fs from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { version } from '../version.ts';
import { digestOf, fileIn, manifestIn, pack, tableIn } from './archive.ts';
import { BackupError } from './failure.ts';
import { requireOwnFolder, withWorkFolder } from './folder.ts';
import { formatOfManifest, type Manifest } from './manifest.ts';
import { withSession } from './session.ts';
import { copyOut, listSequences, listTables } from './tables.ts';

/** What of DATA_DIR nothing could make anew. The last two tell this host and its bridge from others. */
export const keyFile = 'secret.key';
export const filesOfDataDir = [keyFile, 'demo.json', 'data-dir.id', 'hypervisor/installation'];

/** Where an installation keeps its files. */
export interface Places {
  dataDir: string;
  /** What the driver for files keeps: a folder of DATA_DIR, or another one. */
  filesDir: string;
}

/** What the name of everything ends with that a restore has put aside. */
export const asideEnding = /\bbefore_restore_\d{8}t\d{6}$/;

/** How files of FILES_DIR are called in a backup, wherever that is. */
const kept = 'files/';

/** Where a file of a backup belongs. An archive from elsewhere could name places that are none of ours. */
export function placeOf({ dataDir, filesDir }: Places, name: string): string {
  if (path.normalize(name) !== name || name.startsWith('.') || path.isAbsolute(name)) {
    throw new BackupError(`The backup is damaged: it names a file ${JSON.stringify(name)}.`);
  }
  return name.startsWith(kept) ? path.join(filesDir, name.slice(kept.length)) : path.join(dataDir, name);
}

/** Names, as in a backup, of what lies in FILES_DIR. What begins with a dot is being written. */
export async function namesOfKept(filesDir: string): Promise<string[]> {
  const found = await fs.readdir(filesDir, { recursive: true, withFileTypes: true }).catch(noneIfAbsent);
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(filesDir, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith('.'))
    .map((name) => kept + name)
    .toSorted();
}

function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

export interface MadeBackup {
  file: string;
  bytes: number;
  manifest: Manifest;
}

/**
 * Writes a backup of the database at `url`, of DATA_DIR and of the files that are kept into a file of its own in `to`, while the product runs on:
 * all tables are read in one snapshot. The key is left out with `withKey: false`.
 */
export async function makeBackup(options: {
  url: string;
  dataDir: string;
  filesDir: string;
  to: string;
  withKey: boolean;
  now: Date;
}): Promise<MadeBackup> {
  const to = await requireOwnFolder(options.to);
  return withWorkFolder(to, async (folder) => {
    await fs.mkdir(path.join(folder, 'tables'), { mode: 0o700 });
    const database = await copyDatabase(options.url, folder);
    // After the rows: a file is there before the row that says so, and goes after it.
    const files = await copyFiles(options, folder, options.withKey);
    const manifest: Manifest = {
      format: formatOfManifest,
      madeAt: options.now.toISOString(),
      innkeeper: version,
      ...database,
      files,
    };
    await fs.writeFile(manifestIn(folder), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    const file = await freeName(to, options.now);
    await pack(folder, file);
    return { file, bytes: (await fs.stat(file)).size, manifest };
  });
}

async function copyFiles(places: Places, folder: string, withKey: boolean): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  await fs.mkdir(path.join(folder, 'files'), { mode: 0o700 });
  const inUse = (await namesOfKept(places.filesDir)).filter((name) => !asideEnding.test(name));
  for (const name of [...filesOfDataDir, ...inUse]) {
    if (name === keyFile && !withKey) continue;
    const copy = fileIn(folder, name);
    await fs.mkdir(path.dirname(copy), { recursive: true, mode: 0o700 });
    const isThere = await fs.copyFile(placeOf(places, name), copy).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (isThere) digests[name] = await digestOf(copy);
  }
  return digests;
}

async function copyDatabase(url: string, folder: string) {
  return withSession(url, 'public', async (client) => {
    await client.query('begin transaction isolation level repeatable read read only');
    const list = await listTables(client);
    if (!list.some(({ name }) => name === 'schema_migrations')) {
      throw new BackupError('There is nothing to back up: this database was never used by Innkeeper.');
    }
    // A newer version that starts meanwhile waits with its migrations until all tables are read.
    const names = list.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    await client.query(`lock table ${names} in access share mode`);
    const tables = [];
    for (const table of list)
      tables.push({ ...table, ...(await copyOut(client, table, tableIn(folder, table.name))) });
    const { rows: migrations } = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from schema_migrations order by name',
    );
    const { rows: server } = await client.query<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    const keyFingerprint = await fingerprintIn(client, list);
    await client.query('commit');
    return {
      postgres: server[0]?.version ?? '',
      migrations: Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum])),
      tables,
      sequences: await listSequences(client),
      keyFingerprint,
    };
  });
}

/** Null where the database has forgotten its key, or is older than its memory of it. */
async function fingerprintIn(client: pg.Client, tables: { name: string }[]): Promise<string | null> {
  if (!tables.some(({ name }) => name === 'installation')) return null;
  const { rows } = await client.query<{ fingerprint: string }>(
    `select encode(key_fingerprint, 'hex') as fingerprint from installation`,
  );
  return rows[0]?.fingerprint ?? null;
}

/** A name with the moment in it that is not taken. */
async function freeName(folder: string, now: Date): Promise<string> {
  const moment = now.toISOString().slice(0, 19).replaceAll(':', '-');
  const taken = new Set(await fs.readdir(folder));
  for (let nth = 1; ; nth++) {
    const name = `innkeeper-${moment}Z${nth === 1 ? '' : `-${nth}`}.tar`;
    if (!taken.has(name)) return path.join(folder, name);
  }
}
