import { createReadStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { syncFile, syncFolder } from '../../../platform/host/durable.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import type { SnapshotFacts } from '../management.ts';
import type { PortableDisk } from '../portable.ts';
import { findOwner } from './accounts.ts';
import { backupName, diskTool, makeFileFor, makeQcow2 } from './diskTool.ts';
import { exists, lendTo, type MachineFiles, makeOwnDir, type Owner } from './files.ts';
import { readIdentity } from './identity.ts';
import { abandonJob, finishJob, patienceOf } from './jobs.ts';
import { checkedHeader } from './layers.ts';
import type { Monitor } from './monitor.ts';
import { plainCount } from './plainText.ts';
import { diskBytes, growDisk } from './resize.ts';
import { keepingContents } from './snapshots.ts';

/*
 * A backup is a whole qcow2 of its own, without the image below it. It appears under its name only when it is
 * complete; what a crash leaves is called `.partial` and replaced by the next attempt.
 */

const suffix = '.qcow2';
const backupJob = 'backup0';
const backupTarget = 'target0';
const measureTimeoutMs = 300_000;
/** Disks can be large and stores slow. */
const copyTimeoutMs = 6 * 3_600_000;

export async function listBackups(files: MachineFiles): Promise<SnapshotFacts[]> {
  const names = (await readdir(folder(files)).catch(() => []))
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length));
  const facts = await Promise.all(names.map((name) => findBackup(files, name)));
  return facts
    .filter((each) => each !== null)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.name.localeCompare(b.name));
}

export async function findBackup(files: MachineFiles, name: string): Promise<SnapshotFacts | null> {
  const found = await stat(path(files, name)).catch(() => null);
  // 512 bytes is the unit of st_blocks, whatever the file system's own is (stat(2)).
  return found && { name, sizeBytes: found.blocks * 512, createdAt: found.mtime };
}

/**
 * How much a backup of this disk may still take: its image's contents are part of it, its snapshots are not. What an
 * attempt before has left goes when it begins.
 */
export async function backupBytes(files: MachineFiles, name: string): Promise<number> {
  return failing(files, async () => {
    const measure = ['measure', '-U', '--output', 'json', '-O', 'qcow2'];
    const { stdout } = await diskTool(files, (disk) => [...measure, disk], {
      timeoutMs: measureTimeoutMs,
    });
    const left = await stat(`${path(files, name)}.partial`).catch(() => null);
    // Whoever had the program taken over must not make the room of all copies one that is no number.
    const required = plainCount(Object(JSON.parse(stdout)).required);
    if (required === null) throw new Error('what it takes cannot be measured');
    return required - (left?.blocks ?? 0) * 512;
  });
}

/** Copies the disk of a stopped machine. */
export async function copyStoppedDisk(files: MachineFiles, name: string, owner: Owner | null): Promise<void> {
  await completing(files, name, owner, async (partial) => {
    await makeFileFor(owner, partial);
    const target = relative(files.dir, partial);
    await diskTool(files, (disk) => ['convert', '-O', 'qcow2', disk, target], {
      writes: [partial],
      timeoutMs: copyTimeoutMs,
    });
  });
}

/**
 * Copies the disk of a running machine as it is at the moment when the job starts; what the guest writes later
 * waits until the old contents are copied. `atStart` runs what starts the job, with the guest settled.
 */
export async function copyRunningDisk(
  files: MachineFiles,
  monitor: Monitor,
  name: string,
  owner: Owner | null,
  atStart: (start: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await abandonBackup(monitor);
  await completing(files, name, owner, async (partial) => {
    await makeQcow2(owner, partial, await diskBytes(files), null);
    // QEMU runs in the machine's folder as a user who may not walk there from the root.
    const file = { driver: 'file', filename: relative(files.dir, partial) };
    await monitor.command('blockdev-add', {
      driver: 'qcow2',
      'node-name': backupTarget,
      file,
      backing: null,
    });
    try {
      const job = {
        'job-id': backupJob,
        device: 'disk0',
        target: backupTarget,
        sync: 'full',
        'auto-dismiss': false,
      };
      await atStart(async () => void (await monitor.command('blockdev-backup', job)));
      await finishJob(monitor, backupJob, patienceOf(copyTimeoutMs));
    } finally {
      await abandonBackup(monitor).catch(() => undefined); // the machine may have ended
    }
  });
}

/** Ends a copy that a crash of ours left running. */
export async function abandonBackup(monitor: Monitor): Promise<void> {
  await abandonJob(monitor, backupJob);
  const nodes = (await monitor.command('query-named-block-nodes', { flat: true })) as {
    'node-name': string;
  }[];
  if (nodes.some((each) => each['node-name'] === backupTarget))
    await monitor.command('blockdev-del', { 'node-name': backupTarget });
}

/**
 * Writes a backup over the contents of a stopped machine's disk. Its snapshots stay, and until all is written
 * the contents can come back.
 */
export async function restoreBackup(files: MachineFiles, spec: MachineSpec, name: string): Promise<void> {
  const backup = path(files, name);
  if (!(await exists(backup)))
    throw new HypervisorError('snapshot_absent', `${files.id} has no backup ${name}`, { permanent: true });
  await failing(files, () =>
    keepingContents(files, async () => {
      // Cut to the backup's size first, so that whatever it does not cover reads as empty.
      await lendTo(await findOwner(files), backup); // it may have had another account until now
      const { virtualBytes } = await checkedHeader(files, backup);
      await diskTool(files, (disk) => ['resize', '-q', '--shrink', disk, String(virtualBytes)]);
      const source = await backupName(files, backup);
      // Written in an order in which a power cut leaves a disk that the old contents can be brought back on.
      await diskTool(files, (disk) => ['convert', '-n', '-t', 'writeback', '-O', 'qcow2', source, disk], {
        reads: [backup],
        timeoutMs: copyTimeoutMs,
      });
      await growDisk(files, spec.diskGib * 2 ** 30);
    }),
  );
}

/** What leaves for another host is what we have written, and leads nobody there to other files. */
export async function openBackup(files: MachineFiles, name: string): Promise<PortableDisk> {
  const backup = path(files, name);
  const found = await stat(backup).catch(() => null);
  if (found === null)
    throw new HypervisorError('snapshot_absent', `${files.id} has no backup ${name}`, { permanent: true });
  const { backingFile } = await checkedHeader(files, backup);
  if (backingFile !== null)
    throw new HypervisorError('disk_failed', `the backup ${name} of ${files.id} does not stand alone`, {
      permanent: true,
    });
  const known = (await exists(files.identity)) ? await readIdentity(files) : null;
  return {
    bytes: found.size,
    read: () => createReadStream(backup),
    identity: known && { ...known, instanceId: known.instanceId ?? files.id },
  };
}

export async function deleteBackup(files: MachineFiles, name: string): Promise<void> {
  await rm(path(files, name), { force: true });
  await rm(`${path(files, name)}.partial`, { force: true });
  if (await exists(folder(files))) await syncFolder(folder(files));
}

async function completing(
  files: MachineFiles,
  name: string,
  owner: Owner | null,
  copy: (partial: string) => Promise<void>,
): Promise<void> {
  await makeOwnDir(folder(files), owner);
  const partial = `${path(files, name)}.partial`;
  await rm(partial, { force: true });
  try {
    await failing(files, () => copy(partial));
    await lendTo(owner, partial); // what has been kept is changed by nobody
    // Of what `qemu-img` writes nothing is on the disk for sure when it has ended.
    await syncFile(partial);
    await rename(partial, path(files, name));
    await syncFolder(folder(files));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function failing<T>(files: MachineFiles, work: () => Promise<T>): Promise<T> {
  try {
    if (await exists(files.disk)) return await work();
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('snapshot_failed', `a backup of ${files.id}: ${reason}`, { cause });
  }
  throw new HypervisorError('machine_absent', `${files.id} has no disk`, { permanent: true });
}

function folder(files: MachineFiles): string {
  return join(files.dir, 'backups');
}

function path(files: MachineFiles, name: string): string {
  return join(folder(files), name + suffix);
}
