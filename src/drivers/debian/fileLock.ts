import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { childEnvironment, startStoppable } from '../../platform/host/program.ts';

/**
 * Runs `work` while no other process does so under the same file. The lock is the kernel's (`flock`): it goes
 * away with its holder, however that ends. The file stays; only the lock on it means something.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const handle = await open(file, 'a', 0o600);
  try {
    await takeLock(handle.fd);
    return await work();
  } finally {
    await handle.close();
  }
}

/**
 * Node cannot call flock(2). A lock belongs to the open file, so the program `flock` takes it on the descriptor
 * it shares with us, and we keep it. (Not `run`: that passes no descriptors.)
 */
function takeLock(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () =>
      spawn('flock', ['--exclusive', '3'], {
        stdio: ['ignore', 'ignore', 'ignore', fd],
        env: childEnvironment(),
      });
    const child = startStoppable(start, reject);
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`flock ended with ${code}`))));
  });
}
