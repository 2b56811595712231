import { stat } from 'node:fs/promises';
import { HypervisorError } from '../contract.ts';
import { readQcow2, readQcow2Contents, readQcow2Snapshots } from '../formats/qcow2.ts';
import type { SnapshotFacts } from '../management.ts';
import { diskTool } from './diskTool.ts';
import type { MachineFiles } from './files.ts';
import { checkedHeader } from './layers.ts';
import type { Monitor } from './monitor.ts';
import { growDisk } from './resize.ts';

/*
 * Snapshots lie inside the machine's own qcow2 file ("internal"). Against layers of files this means: one file to
 * lose, no chain to break or to merge, restoring and deleting in any order, milliseconds each, and the same list
 * whether the machine runs or not. The price: they cannot outlive the disk. Backups do.
 */

/** Numbers are ids to QEMU, which would find another snapshot than the one so named. */
const snapshotPrefix = 'snapshot-';
/** Holds the disk's contents while a backup is written over them. */
const beforeRestore = 'before-restore';
const snapshotTimeoutMs = 300_000;
/** More than the tables that a snapshot writes. */
const tablesBytes = 2 ** 20;

/** What a snapshot of the disk may come to take: its contents are shared only until the guest writes them again. */
export async function snapshotBytes(files: MachineFiles): Promise<number> {
  return (await readQcow2Contents(files.disk)).disk + tablesBytes;
}

/** A neighbour's disk keeps nobody waiting for longer, and one that did is left alone for a while. */
const countedWithinMs = 2_000;
const leftAloneMs = 600_000;
const leftAlone = new Map<string, number>();

/**
 * What all snapshots of these machines may still come to take, when their guests write everything anew: it is promised
 * to them, and no other copy may have it. One that cannot be read takes nothing more.
 */
export async function unwrittenBytes(machines: readonly MachineFiles[]): Promise<number> {
  let bytes = 0;
  for (const { disk } of machines) {
    if (performance.now() < (leftAlone.get(disk) ?? 0)) continue;
    leftAlone.delete(disk);
    const header = await readQcow2(disk).catch(() => null);
    if (!header?.snapshotCount) continue;
    const contents = await readQcow2Contents(disk, countedWithinMs).catch(() => null);
    if (contents === null) leftAlone.set(disk, performance.now() + leftAloneMs);
    const found = await stat(disk).catch(() => null);
    if (contents && found) bytes += Math.max(0, contents.disk + contents.snapshots - found.blocks * 512);
  }
  return bytes;
}

export async function listSnapshots(files: MachineFiles): Promise<SnapshotFacts[]> {
  return (await readQcow2Snapshots(files.disk))
    .filter((each) => each.name.startsWith(snapshotPrefix))
    .map((each) => ({
      name: each.name.slice(snapshotPrefix.length),
      sizeBytes: each.allocatedBytes,
      createdAt: each.createdAt,
    }));
}

export async function findSnapshot(files: MachineFiles, name: string): Promise<SnapshotFacts | null> {
  return (await listSnapshots(files)).find((each) => each.name === name) ?? null;
}

/** QEMU takes back whatever it wrote of a snapshot that fails. `monitor` is undefined for a stopped machine. */
export async function createSnapshot(
  files: MachineFiles,
  monitor: Monitor | undefined,
  name: string,
): Promise<SnapshotFacts> {
  await failing(files, async () => {
    if (monitor) {
      const args = { device: 'disk0', name: snapshotPrefix + name };
      await monitor.command('blockdev-snapshot-internal-sync', args, snapshotTimeoutMs);
    } else await snapshotTool('-c', snapshotPrefix + name, files);
  });
  const made = await findSnapshot(files, name);
  if (made) return made;
  throw new HypervisorError('snapshot_failed', `the snapshot ${name} of ${files.id} is not there`);
}

/** A disk that has grown since the snapshot keeps its size: what came later is empty. */
export async function restoreSnapshot(files: MachineFiles, name: string): Promise<void> {
  if (!(await findSnapshot(files, name)))
    throw new HypervisorError('snapshot_absent', `${files.id} has no snapshot ${name}`, { permanent: true });
  const before = await checkedHeader(files, files.disk);
  await failing(files, async () => {
    await snapshotTool('-a', snapshotPrefix + name, files);
    await growDisk(files, before.virtualBytes);
  });
}

export async function deleteSnapshot(
  files: MachineFiles,
  monitor: Monitor | undefined,
  name: string,
): Promise<void> {
  if (!(await findSnapshot(files, name))) return;
  await failing(files, async () => {
    if (monitor) {
      const args = { device: 'disk0', name: snapshotPrefix + name };
      await monitor.command('blockdev-snapshot-delete-internal-sync', args, snapshotTimeoutMs);
    } else await snapshotTool('-d', snapshotPrefix + name, files);
  });
}

/** Runs `work` on a stopped disk; until it has succeeded, the disk can go back to what it was. */
export async function keepingContents(files: MachineFiles, work: () => Promise<void>): Promise<void> {
  if (!(await isHalfRestored(files))) await snapshotTool('-c', beforeRestore, files);
  try {
    await work();
  } catch (error) {
    await undoHalfRestore(files).catch(() => undefined); // the next start tries it again
    throw error;
  }
  await snapshotTool('-d', beforeRestore, files);
}

/** Brings back the contents of a disk on which {@link keepingContents} was cut off. */
export async function undoHalfRestore(files: MachineFiles): Promise<void> {
  if (!(await isHalfRestored(files))) return;
  await snapshotTool('-a', beforeRestore, files);
  await snapshotTool('-d', beforeRestore, files);
}

async function isHalfRestored(files: MachineFiles): Promise<boolean> {
  const header = await checkedHeader(files, files.disk);
  if (header.snapshotCount === 0) return false;
  return (await readQcow2Snapshots(files.disk)).some((each) => each.name === beforeRestore);
}

async function snapshotTool(action: '-a' | '-c' | '-d', name: string, files: MachineFiles): Promise<void> {
  await diskTool(files, (disk) => ['snapshot', '-q', action, name, disk], { timeoutMs: snapshotTimeoutMs });
}

async function failing(files: MachineFiles, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('snapshot_failed', `a snapshot of ${files.id}: ${reason}`, { cause });
  }
}
