import { readFile } from 'node:fs/promises';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { diskTool } from './diskTool.ts';
import type { MachineFiles } from './files.ts';
import { checkedHeader } from './layers.ts';
import type { Monitor } from './monitor.ts';

const gib = 2 ** 30;
const resizeTimeoutMs = 60_000;

/** Grows the disk of a machine to the size of its spec, running or not; `spec_invalid` when it is larger. */
export async function resizeDisk(
  files: MachineFiles,
  spec: MachineSpec,
  monitor: Monitor | undefined,
): Promise<void> {
  const wanted = spec.diskGib * gib;
  const present = await diskBytes(files);
  if (wanted < present) {
    const message = `the disk of ${spec.id} has ${present / gib} GiB and cannot shrink to ${spec.diskGib}`;
    throw new HypervisorError('spec_invalid', message, { permanent: true });
  }
  if (wanted === present) return;
  if (!monitor) await growDisk(files, wanted);
  else {
    await failing(files, () =>
      monitor.command('block_resize', { 'node-name': 'disk0', size: wanted }, resizeTimeoutMs),
    );
  }
}

/** Grows the disk of a stopped machine; one that is as large already, or larger, stays. */
export async function growDisk(files: MachineFiles, bytes: number): Promise<void> {
  if ((await diskBytes(files)) >= bytes) return;
  await failing(files, () => diskTool(files, (disk) => ['resize', '-q', disk, String(bytes)]));
}

export async function diskBytes(files: MachineFiles): Promise<number> {
  return (await checkedHeader(files, files.disk)).virtualBytes;
}

/** Cores and memory that the running process was started with, by its own command line, which it may have written over. */
export async function runningSize(pid: number): Promise<{ cpuCores: number; memoryMib: number } | null> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const cpuCores = /^\d{1,4}$/.exec(args[args.indexOf('-smp') + 1] ?? '')?.[0];
  const memory = /^size=(\d{1,8})M$/.exec(args[args.indexOf('-m') + 1] ?? '')?.[1];
  if (cpuCores === undefined || memory === undefined) return null;
  return { cpuCores: Number(cpuCores), memoryMib: Number(memory) };
}

async function failing(files: MachineFiles, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('disk_failed', `the disk of ${files.id} does not grow: ${reason}`, { cause });
  }
}
