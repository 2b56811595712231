import fs from 'node:fs/promises';
import path from 'node:path';
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

/** A folder to work in that only we can open, gone when `work` is done. */
export async function withWorkFolder<T>(inside: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await fs.mkdtemp(path.join(inside, '.backup-'));
  try {
    return await work(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}
