import fs from 'node:fs/promises';
import path from 'node:path';
import { DirInUse, lockDataDir, runDirOf } from '../platform/host/dataDir.ts';
import { BackupError } from './failure.ts';

/** Where backups go unless they are told another place: beside the data, to be copied elsewhere. */
export function defaultFolder(dataDir: string): string {
  return path.join(dataDir, 'backups');
}

/** Makes the folder for backups, or refuses one that others can look into: a backup opens everything. */
export async function requireOwnFolder(folder: string): Promise<string> {
  const absolute = path.resolve(folder);
  await fs.mkdir(absolute, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`The folder ${absolute} cannot be made: ${error.message}`);
  });
  const found = await fs.stat(absolute);
  if (!found.isDirectory()) throw new BackupError(`${absolute} is no folder. Name one with --to.`);
  if ((found.mode & 0o007) !== 0) {
    throw new BackupError(
      `Everybody on this machine can look into ${absolute}, and a backup holds the secret key and everything that ` +
        `customers told you. Close it first (chmod o-rwx ${absolute}), or name another folder with --to.`,
    );
  }
  const us = process.getuid?.() ?? 0;
  if (found.uid !== us && found.uid !== 0) {
    throw new BackupError(
      `${absolute} belongs to user ${found.uid}, who could exchange what is written there. Name a folder of your own with --to.`,
    );
  }
  return absolute;
}

/** How the names of folders to work in begin, and of those in which a backup is tried out. */
const working = '.backup-';
export const tryingOut = '.verify-';
/** One that is younger may not be locked yet. */
const leftAfterMs = 60_000;

/**
 * A folder to work in that only we can open, gone when `work` is done. What others have left that were ended in the middle of it goes
 * first: it holds all that a backup does, in the clear.
 */
export async function withWorkFolder<T>(inside: string, work: (folder: string) => Promise<T>): Promise<T> {
  await sweep(inside);
  const folder = await fs.mkdtemp(path.join(inside, working));
  const lock = await lockDataDir(folder);
  try {
    return await work(folder);
  } finally {
    lock.release();
    await fs.rm(folder, { recursive: true, force: true });
  }
}

async function sweep(inside: string): Promise<void> {
  for (const entry of await fs.readdir(inside, { withFileTypes: true })) {
    const isOurs = /^\.(backup|verify)-\w{6}$/.test(entry.name); // as `mkdtemp` calls them
    if (entry.isDirectory() && isOurs) await removeUnlessUsed(path.join(inside, entry.name));
  }
}

/** The server of one in which a backup is tried out ends with whoever started it; it has the lock in its own folder. */
async function removeUnlessUsed(folder: string): Promise<void> {
  const { mtimeMs } = await fs.stat(folder);
  if (Math.abs(Date.now() - mtimeMs) < leftAfterMs) return;
  const isTrial = path.basename(folder).startsWith(tryingOut);
  const locked = isTrial ? path.join(folder, 'postgres') : folder;
  await fs.mkdir(locked, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(locked).catch((error: Error) => {
    if (error instanceof DirInUse) return null;
    throw error;
  });
  if (lock === null) return;
  lock.release();
  if (isTrial) await fs.rm(await runDirOf(folder), { recursive: true, force: true });
  await fs.rm(folder, { recursive: true, force: true });
}
