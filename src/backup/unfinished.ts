import fs from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { syncFolder } from '../platform/host/durable.ts';
import { BackupError } from './failure.ts';
import { withSession } from './session.ts';

/** A restore whose database may be in place, and whose files may not all be. */
export interface Unfinished {
  /** When its backup was made. */
  madeAt: string;
  /** What it names what it puts aside. */
  suffix: string;
  /** What PostgreSQL calls the schema that it puts in the place of `public`. */
  place: string;
}

const placeIn = (dataDir: string) => path.join(dataDir, 'restore-unfinished.json');

export async function readUnfinished(dataDir: string): Promise<Unfinished | null> {
  const text = await fs.readFile(placeIn(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as Unfinished);
}

/** Before the database is in place, so that a power cut after it is known. */
export async function writeUnfinished(dataDir: string, unfinished: Unfinished): Promise<void> {
  const place = placeIn(dataDir);
  const written = await fs.open(`${place}.new`, 'w', 0o600);
  await written.writeFile(JSON.stringify(unfinished));
  await written.sync().finally(() => written.close());
  await fs.rename(`${place}.new`, place);
  await syncFolder(dataDir);
}

export async function forgetUnfinished(dataDir: string): Promise<void> {
  await fs.rm(placeIn(dataDir), { force: true });
}

/** What PostgreSQL calls the schema that is in use: another one after a restore. */
export async function readPlace(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ place: string | null }>(
    `select to_regnamespace('public')::oid::text as place`,
  );
  return rows[0]?.place ?? null;
}

/** Fails where a restore was cut off when its database was in place and its files were not: with another key nothing opens. */
export async function requireFinishedRestore(url: string, dataDir: string): Promise<void> {
  const unfinished = await readUnfinished(dataDir);
  if (unfinished === null || unfinished.place !== (await withSession(url, 'public', readPlace))) return;
  throw new BackupError(
    `A restore of the backup of ${unfinished.madeAt} was cut off before all of its files were in place. Run the same ` +
      'innkeeper restore again; it goes on where it was.',
  );
}
