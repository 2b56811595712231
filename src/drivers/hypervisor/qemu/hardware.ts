import { readFile, rename } from 'node:fs/promises';
import { syncFolder, writeSynced } from '../../../platform/host/durable.ts';
import { runProgram } from '../../../platform/host/program.ts';
import type { MachineFiles } from './files.ts';
import { qemuProgram } from './options.ts';

let newest: Promise<string> | null = null;

/**
 * The machine type that a guest was first started with, by QEMU's name: a newer QEMU gives it the same hardware, where
 * `q35` alone would change it under an installed system. A disk made anew begins with the newest: its file is empty.
 * What is chosen here counts from {@link keepMachineType} on.
 */
export async function machineType(files: MachineFiles): Promise<string> {
  const kept = (await readFile(files.machineType, 'utf8').catch(() => '')).trim();
  if (/^pc-q35-[\d.]+$/.test(kept)) return kept;
  newest ??= newestType().catch((error) => {
    newest = null;
    throw error;
  });
  const type = await newest;
  await writeSynced(chosen(files), `${type}\n`);
  return type;
}

/** Its QEMU has come up, so the guest is about to meet this hardware. One that never did was never started. */
export async function keepMachineType(files: MachineFiles): Promise<void> {
  await rename(chosen(files), files.machineType).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error; // nothing was chosen: it knows its hardware from earlier
  });
  await syncFolder(files.dir);
}

function chosen(files: MachineFiles): string {
  return `${files.machineType}.partial`;
}

/** What `q35` stands for in the QEMU of this host. */
async function newestType(): Promise<string> {
  const { stdout } = await runProgram([qemuProgram, '-machine', 'help']);
  const named = /^q35 .*\(alias of (pc-q35-[\d.]+)\)$/m.exec(stdout)?.[1];
  if (named === undefined) throw new Error(`${qemuProgram} knows no machine q35`);
  return named;
}
