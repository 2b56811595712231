import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../platform/host/durable.ts';
import { ProgramError, runProgram } from '../platform/host/program.ts';
import { BackupError } from './failure.ts';
import { type Manifest, readManifest, type TableInBackup } from './manifest.ts';
import { measureFile } from './tables.ts';

const hours = 3_600_000;

/** Where things are in a backup, and in the folder it is made of. */
export const manifestIn = (folder: string) => path.join(folder, 'manifest.json');
export const tableIn = (folder: string, name: string) => path.join(folder, 'tables', `${name}.gz`);
export const fileIn = (folder: string, name: string) => path.join(folder, 'files', name);

/** Packs a folder into `file`, which nobody else can read and which is there whole or not at all. */
export async function pack(folder: string, file: string): Promise<void> {
  const partial = `${file}.partial`;
  await fs.rm(partial, { force: true });
  await (await fs.open(partial, 'wx', 0o600)).close();
  try {
    // The manifest goes last: what was cut short has none.
    await runProgram(
      [
        'tar',
        '--create',
        '--file',
        partial,
        '--owner=0',
        '--group=0',
        '--directory',
        folder,
        'tables',
        'files',
        'manifest.json',
      ],
      { timeoutMs: 6 * hours },
    );
    const written = await fs.open(partial, 'r+');
    await written.sync().finally(() => written.close());
    await fs.rename(partial, file);
    await syncFolder(path.dirname(file));
  } catch (error) {
    await fs.rm(partial, { force: true });
    throw error;
  }
}

/** Unpacks a backup into `folder` and holds every part against its manifest: whole and unchanged, or an error. */
export async function unpack(file: string, folder: string): Promise<Manifest> {
  await fs.access(file).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(
      error.code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}`,
    );
  });
  await runProgram(
    [
      'tar',
      '--extract',
      '--file',
      path.resolve(file),
      '--no-same-owner',
      '--no-same-permissions',
      '--directory',
      folder,
    ],
    { timeoutMs: 6 * hours },
  ).catch((error: unknown) => {
    if (!(error instanceof ProgramError)) throw error;
    throw new BackupError(
      `${file} is damaged, cut short or no backup: ${error.stderr.trim().split('\n')[0]}`,
    );
  });
  const text = await readPlain(manifestIn(folder)).catch(() => null);
  if (text === null)
    throw new BackupError(`${file} is no backup of Innkeeper, or was cut short: it has no manifest.json.`);
  const manifest = readManifest(text);
  await check(folder, manifest);
  return manifest;
}

async function check(folder: string, manifest: Manifest): Promise<void> {
  for (const table of manifest.tables) {
    const found = await measureFile(await plain(tableIn(folder, table.name))).catch((error: Error) => {
      throw new BackupError(
        `The backup is damaged: the rows of ${table.name} cannot be read (${error.message}).`,
      );
    });
    requireSame(table, found, 'The backup is damaged');
  }
  for (const [name, sha256] of Object.entries(manifest.files)) {
    const found = await digestOf(await plain(fileIn(folder, name)).catch(() => '')).catch(() => null);
    if (found !== sha256) throw new BackupError(`The backup is damaged: ${name} is missing or has changed.`);
  }
}

/** Fails when a table is not what the backup says it is. */
export function requireSame(
  table: TableInBackup,
  found: Pick<TableInBackup, 'rows' | 'sha256'>,
  otherwise: string,
): void {
  if (found.rows === table.rows && found.sha256 === table.sha256) return;
  const how =
    found.rows === table.rows ? 'has other contents' : `has ${found.rows} rows instead of ${table.rows}`;
  throw new BackupError(`${otherwise}: the table ${table.name} ${how}.`);
}

export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** The file itself: an archive from elsewhere could have put a link there. */
async function plain(file: string): Promise<string> {
  if ((await fs.lstat(file)).isFile()) return file;
  throw new BackupError(`The backup is damaged: ${path.basename(file)} is no plain file.`);
}

async function readPlain(file: string): Promise<string> {
  return fs.readFile(await plain(file), 'utf8');
}
