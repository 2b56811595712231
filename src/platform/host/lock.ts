import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { childEnvironment } from './program.ts';

/** Another process uses the directory; the message says which, and what to do. */
export class DirInUse extends Error {}

/** A held lock; `release` gives it up, and so does the end of this process in whatever way. */
export interface DirLock {
  release(): void;
}

/**
 * Makes this process the only one that uses `dir`, or fails at once naming the process that does.
 *
 * The lock is the kernel's (`flock`), taken on a descriptor that only we hold: it vanishes with us, also
 * after `kill -9` or a power cut, holds between containers that share a volume, and leaves nothing stale to
 * guess about. The file stays; only the lock on it means something.
 */
export async function lockDataDir(dir: string): Promise<DirLock> {
  const file = path.join(dir, '.lock');
  // biome-ignore format: the flags read best in one line
  const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_NOFOLLOW, 0o600);
  try {
    if (!(await takeLock(fd))) {
      const owner = fs.readFileSync(fd, 'utf8').trim();
      throw new DirInUse(
        `${dir} is in use by another Innkeeper${owner ? ` (process ${owner})` : ''}. ` +
          'Stop that one first, or give this one a DATA_DIR of its own.',
      );
    }
    fs.ftruncateSync(fd);
    fs.writeSync(fd, `${process.pid}\n`, 0);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  let held = true;
  return {
    release: () => {
      if (held) fs.closeSync(fd);
      held = false;
    },
  };
}

/**
 * Node cannot call flock(2), but a lock belongs to the open file, not to the process: `flock` locks the
 * descriptor it shares with us and ends, and we go on holding it. (Not `run`: that passes no descriptors.)
 */
function takeLock(fd: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['--exclusive', '--nonblock', '3'], {
      stdio: ['ignore', 'ignore', 'pipe', fd],
      env: childEnvironment(),
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(true);
      else if (code === 1) resolve(false);
      else reject(new Error(`The data directory could not be locked: ${stderr.trim()}`));
    });
  });
}

/**
 * The process that holds the lock of `dir`, as far as we may look into it; null where nobody does. It looks without asking the
 * kernel for the lock, which would turn away whoever wants it in that moment.
 */
export function lockedBy(dir: string): number | null {
  const file = path.join(dir, '.lock');
  try {
    const pid = Number(fs.readFileSync(file, 'utf8').trim());
    if (!Number.isSafeInteger(pid) || pid <= 0) return null;
    const { dev, ino } = fs.statSync(file);
    const descriptors = fs.readdirSync(`/proc/${pid}/fd`);
    const isHeld = descriptors.some((fd) => {
      const open = fs.statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
      return open?.dev === dev && open.ino === ino;
    });
    return isHeld ? pid : null;
  } catch {
    return null; // no lock yet, or a number that was another process's since
  }
}
