import { type FileHandle, open, rm, stat, truncate } from 'node:fs/promises';
import type { MachineFiles } from './files.ts';

const atMostBytes = 2 ** 20;

/**
 * Opens a new log for what a machine's QEMU prints. It lies beside the machine's disk and not in `runDir`: that is memory
 * which all services of the host share, and a guest may have QEMU complain without end.
 */
export async function openLog({ log }: MachineFiles): Promise<FileHandle> {
  await rm(log, { force: true });
  return open(log, 'ax+', 0o600); // QEMU adds to its end, also after it was emptied
}

/** Empties a log that has grown too long. */
export async function trimLog({ log }: MachineFiles): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > atMostBytes) await truncate(log);
}
