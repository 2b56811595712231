import { rmSync } from 'node:fs';
import path from 'node:path';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';

/** Removes a data directory and the folder of sockets that belongs to it; nothing may run in it any more. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const { runDir } = await prepareDataDir(dataDir);
  // Only where a parent of the directory is closed to the service user.
  await runProgram(['umount', path.join(runDir, 'data')]).catch(() => undefined);
  for (const dir of [runDir, dataDir]) rmSync(dir, { recursive: true, force: true });
}
