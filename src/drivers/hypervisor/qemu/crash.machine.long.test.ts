import { readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { withAgent } from './agent.ts';
import { copyStoppedDisk } from './backups.ts';
import { type MachineFiles, machineFiles } from './files.ts';
import { whileFrozen } from './freeze.ts';
import { type Monitor, monitorMachine } from './monitor.ts';
import { findProcess } from './process.ts';
import { createSnapshot } from './snapshots.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');

/** What is left half-done when the product or the host fails in the middle; the next start of it puts it right. */
describe.skipIf(skip !== null)('after a crash', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  let files: MachineFiles;

  const writes = (word: string) => bed.inGuest(spec, `echo ${word} > /root/state; sync; cat /root/state`);
  const ready = () => hypervisor.waitUntilReady(spec, { timeoutMs: 150_000 });
  async function opened(): Promise<void> {
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
  }
  /** Lets `work` talk to the machine in the product's place; what it leaves is what a crash would leave. */
  async function crashing(work: (monitor: Monitor) => Promise<void>): Promise<void> {
    await hypervisor.close();
    const pid = (await findProcess(files)) ?? 0;
    const monitor = monitorMachine(files, pid, bed.options.log, () => undefined);
    try {
      await work(monitor);
    } finally {
      monitor.release();
    }
    await opened();
  }

  beforeAll(async () => {
    bed = await testbed(5, 'tiny', {});
    spec = bed.spec(1);
    files = machineFiles(bed.options, spec.id);
    // A small disk of its own for the node, to fill it.
    await runProgram(['mkdir', '-p', bed.options.dir]);
    await runAsRoot(['mount', '-t', 'tmpfs', '-o', 'size=64m,mode=0755', 'tmpfs', bed.options.dir]);
    await opened();
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    await hypervisor.start(spec);
    await ready();
    await hypervisor.forgetSecrets(spec.id);
  }, 900_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    await runAsRoot(['umount', bed.options.dir]);
    bed?.remove();
  });

  it('a guest whose file systems were held can write again', { timeout: 60_000 }, async () => {
    await crashing(async (monitor) => {
      const failing = () => Promise.reject(new Error('no room'));
      await expect(whileFrozen(files, monitor, bed.options.log, failing)).rejects.toThrow('no room');
      expect(await writes('thawed at once')).toBe('thawed at once\n');
      await writeFile(join(files.runDir, 'frozen'), '');
      const frozen = await withAgent(files, monitor, 5_000, (agent) =>
        agent.command('guest-fsfreeze-freeze'),
      );
      expect(frozen).toBeGreaterThan(0);
    });
    expect(await writes('thawed later')).toBe('thawed later\n');
    expect(await readdir(files.runDir)).not.toContain('frozen');
  });

  it('a backup that was being made is given up, and made anew', { timeout: 60_000 }, async () => {
    await crashing(async (monitor) => {
      const file = { driver: 'file', filename: 'left.partial' };
      await runProgram(['qemu-img', 'create', '-q', '-f', 'qcow2', join(files.dir, 'left.partial'), '1G']);
      await runAsRoot(['chmod', '0666', join(files.dir, 'left.partial')]);
      await monitor.command('blockdev-add', { driver: 'qcow2', 'node-name': 'target0', file });
      const job = { 'job-id': 'backup0', device: 'disk0', target: 'target0', sync: 'full' };
      await monitor.command('blockdev-backup', { ...job, speed: 65_536, 'auto-dismiss': false });
    });
    expect(await hypervisor.createBackup(spec.id, 'anew')).toMatchObject({ name: 'anew' });
    await hypervisor.deleteBackup(spec.id, 'anew');
    expect(await writes('backed up')).toBe('backed up\n');
  });

  it('a copy is not begun that would leave the machines too little space to write', async () => {
    const filler = join(bed.options.dir, 'filler');
    const { bavail, bsize } = await statfs(bed.options.dir);
    await runProgram(['fallocate', '-l', String(bavail * bsize - 10 * 2 ** 20), filler]);
    const refused = expect.objectContaining({
      code: 'no_space',
      message: expect.stringContaining('the node keeps 0.0 GiB free'),
    });
    await expect(hypervisor.createSnapshot(spec.id, 'one')).rejects.toEqual(refused);
    await expect(hypervisor.createBackup(spec.id, 'one')).rejects.toEqual(refused);
    await runProgram(['rm', filler]);
  });

  it('a snapshot that finds no room leaves the machine as it was', { timeout: 60_000 }, async () => {
    await hypervisor.shutdown(spec.id, { timeoutMs: 30_000 });
    const filler = join(bed.options.dir, 'filler');
    await runProgram(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=4096']).catch(() => undefined); // until it is full
    const failed = expect.objectContaining({ code: 'snapshot_failed', permanent: false });
    // Others may take the space after the driver has looked, which begins neither while there is none.
    await expect(createSnapshot(files, undefined, 'one')).rejects.toEqual(failed);
    await expect(copyStoppedDisk(files, 'one', null)).rejects.toEqual(failed);
    const refused = expect.objectContaining({ code: 'no_space' });
    await expect(hypervisor.createSnapshot(spec.id, 'one')).rejects.toEqual(refused);
    await expect(hypervisor.createBackup(spec.id, 'one')).rejects.toEqual(refused);
    await runProgram(['rm', filler]);
    expect(await hypervisor.listSnapshots(spec.id)).toEqual([]);
    expect(await hypervisor.listBackups(spec.id)).toEqual([]);
    await runProgram(['qemu-img', 'check', '-q', files.disk]);
    expect(await hypervisor.createSnapshot(spec.id, 'one')).toMatchObject({ name: 'one' });
  });

  it('a backup does not come back where there is no room for it beside what it replaces', async () => {
    await hypervisor.createBackup(spec.id, 'kept');
    const filler = join(bed.options.dir, 'filler');
    const { bavail, bsize } = await statfs(bed.options.dir);
    await runProgram(['fallocate', '-l', String(bavail * bsize - 10 * 2 ** 20), filler]);
    const before = await readFile(files.disk);
    await expect(hypervisor.restoreBackup(spec, 'kept')).rejects.toMatchObject({ code: 'no_space' });
    expect(before.equals(await readFile(files.disk))).toBe(true);
    await runProgram(['rm', filler]);
    await hypervisor.deleteBackup(spec.id, 'kept');
  });

  it('a disk half written over by a backup has its contents back at the start', {
    timeout: 120_000,
  }, async () => {
    await runProgram(['qemu-img', 'snapshot', '-c', 'before-restore', files.disk]);
    await runProgram(['qemu-io', '-f', 'qcow2', '-c', 'write -P 85 0 8M', files.disk]);
    await hypervisor.start(spec);
    await ready();
    expect(await bed.inGuest(spec, 'cat /root/state')).toBe('backed up\n');
    expect((await hypervisor.listSnapshots(spec.id)).map((each) => each.name)).toEqual(['one']);
  });

  it('a file system that the kernel refuses is repaired at the start, and keeps its files', {
    timeout: 120_000,
  }, async () => {
    await writes('before the power went');
    await hypervisor.powerOff(spec.id);
    // The group descriptors, in the second block: what a power loss can leave of them while a disk grows.
    await runProgram(['qemu-io', '-f', 'qcow2', '-c', 'write -P 0 4096 4096', files.disk]);
    await hypervisor.start(spec);
    await ready();
    expect(await bed.inGuest(spec, 'cat /root/state; df -k / | tail -1')).toMatch(
      /^before the power went\n\S+ +\d{6}/,
    );
  });

  it('the rescue system lets in whom the disk lets in, also when the power was gone', {
    timeout: 400_000,
  }, async () => {
    const rescue: MachineSpec = { ...spec, boot: 'rescue' };
    for (const _ of [1, 2]) {
      await hypervisor.powerOff(spec.id);
      await hypervisor.start(rescue);
      await ready();
      expect(await bed.inGuest(rescue, 'ls /dev/vdc', 'key')).toContain('/dev/vdc');
    }
    expect(await bed.signsIn(rescue, 'password')).toBe(true);
    expect(await bed.spoofs(rescue)).toBe(false);
    await hypervisor.powerOff(spec.id);
    await hypervisor.start(spec);
    expect((await readdir(files.dir)).filter((file) => file.startsWith('rescue'))).toEqual([]);
  });
});
