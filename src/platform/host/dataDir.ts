import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runProgram } from './program.ts';
import { asServiceUser, databaseUserName, ensureServiceUser, type ServiceUser } from './serviceUser.ts';

export { DirInUse, type DirLock, lockDataDir, lockedBy } from './lock.ts';

/** Where the product keeps its state, and as whom its database runs. */
export interface DataDir {
  /** Absolute path under which we and the child services reach the data directory. */
  dir: string;
  /**
   * Short directory for unix sockets, whose paths may hold 107 bytes. As root it belongs to root and child
   * services may only pass through: give each service a subdirectory of its own.
   */
  runDir: string;
  /** Unprivileged account for the database; null when we are not root ourselves. */
  runAs: string | null;
}

/** Longest `runDir` that leaves room for a subdirectory named after a machine and a socket in it. */
const maxRunDirBytes = 44;

/**
 * Makes `dir` ready for the product and for the services it starts. Repeatable; after a reboot it makes
 * anew what the reboot took. Fails with what to do when child services cannot reach the directory.
 */
export async function prepareDataDir(dir: string): Promise<DataDir> {
  const absolute = path.resolve(dir);
  const isRoot = process.getuid?.() === 0;
  await fs.mkdir(absolute, { recursive: true, mode: 0o700 });
  const hash = hashOf(absolute);
  if (!isRoot) return { dir: absolute, runDir: await userRunDir(absolute, hash), runAs: null };

  const user = await ensureServiceUser(databaseUserName);
  const runDir = await rootRunDir(hash, user);
  const reachable = await reachableFor(user, absolute, path.join(runDir, 'data'));
  return { dir: reachable, runDir, runAs: user.name };
}

/** The directory of sockets that belongs to a data directory, which need not be there any more. */
export async function runDirOf(dir: string): Promise<string> {
  const absolute = path.resolve(dir);
  const hash = hashOf(absolute);
  return process.getuid?.() === 0 ? rootRunDirOf(hash) : userRunDir(absolute, hash);
}

const hashOf = (absolute: string) => createHash('sha256').update(absolute).digest('hex').slice(0, 8);
const rootRunDirOf = (hash: string) => `/run/innkeeper/${hash}`;

/** Not writable for the service user: a service that was taken over must not swap a path that root uses. */
async function rootRunDir(hash: string, user: ServiceUser): Promise<string> {
  await fs.mkdir('/run/innkeeper', { recursive: true, mode: 0o755 });
  await fs.chmod('/run/innkeeper', 0o755);
  const runDir = rootRunDirOf(hash);
  await fs.mkdir(runDir, { recursive: true, mode: 0o711 });
  await fs.chown(runDir, 0, user.gid);
  await fs.chmod(runDir, 0o711);
  return runDir;
}

/**
 * Beside the data when that path is short, as it then lives as long as the data does: `XDG_RUNTIME_DIR` goes
 * away when its owner logs out while a server started with `nohup` runs on.
 */
async function userRunDir(absolute: string, hash: string): Promise<string> {
  const beside = path.join(absolute, 'run');
  if (Buffer.byteLength(beside) <= maxRunDirBytes) return ownPrivateDir(beside);
  const name = `innkeeper-${process.getuid?.()}`;
  const fits = Buffer.byteLength(path.join(os.tmpdir(), name, hash)) <= maxRunDirBytes;
  const parent = await ownPrivateDir(path.join(fits ? os.tmpdir() : '/tmp', name));
  return ownPrivateDir(path.join(parent, hash));
}

/** In a directory that others may write to, somebody could have been there first: check, do not trust. */
async function ownPrivateDir(dir: string): Promise<string> {
  await fs.mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await fs.lstat(dir);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(
      `${dir} is not a directory of ours. Remove it, or set TMPDIR to a directory of your own.`,
    );
  }
  if ((found.mode & 0o077) !== 0) await fs.chmod(dir, 0o700);
  return dir;
}

/** A path to `absolute` that the service user can walk: itself, or a bind mount when a parent is closed. */
async function reachableFor(user: ServiceUser, absolute: string, mountPoint: string): Promise<string> {
  if (await canEnter(user, absolute)) return absolute;
  await letGroupPass(user, absolute);
  if (await canEnter(user, absolute)) return absolute;

  if (await isSameDir(absolute, mountPoint)) return mountPoint;
  await fs.mkdir(mountPoint, { recursive: true });
  try {
    // A mount left from a directory that was since removed shows something else: cover it with ours.
    await runProgram(['mount', '--bind', absolute, mountPoint]);
  } catch (error) {
    throw new Error(
      `The user ${user.name} cannot reach ${absolute}, and mounting it elsewhere is not permitted here. ` +
        'Set DATA_DIR to a directory such as /var/lib/innkeeper.',
      { cause: error },
    );
  }
  if (!(await canEnter(user, mountPoint)))
    throw new Error(`The user ${user.name} cannot reach ${mountPoint}.`);
  return mountPoint;
}

async function canEnter(user: ServiceUser, dir: string): Promise<boolean> {
  return runProgram(asServiceUser(user.name, ['test', '-x', dir]), { cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Opens the directory itself, not what is above it, to the service user's group: passing, not listing. */
async function letGroupPass(user: ServiceUser, dir: string): Promise<void> {
  const { mode } = await fs.stat(dir);
  if ((mode & 0o001) !== 0) return;
  await fs.chown(dir, -1, user.gid);
  await fs.chmod(dir, (mode & 0o777) | 0o010);
}

async function isSameDir(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([a, b].map((dir) => fs.stat(dir).catch(() => null)));
  return first != null && second != null && first.dev === second.dev && first.ino === second.ino;
}
