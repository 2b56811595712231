import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runDirOf } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';

/** Removes a data directory and the folder of sockets that belongs to it; nothing may run in it any more. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const runDir = await runDirOf(dataDir);
  // Only where a parent of the directory is closed to the service user.
  const mountPoint = path.join(runDir, 'data');
  if (existsSync(mountPoint)) await runProgram(['umount', mountPoint]).catch(() => undefined);
  for (const dir of [runDir, dataDir]) rmSync(dir, { recursive: true, force: true });
}
