import { existsSync } from 'node:fs';
import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { ownAccount } from './accounts.ts';
import { asAccount } from './asAccount.ts';
import { type MachineFiles, machineFiles, type Owner } from './files.ts';
import { findProcess } from './process.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip =
  (await reasonToSkip('tiny')) ?? (process.getuid?.() === 0 ? null : 'machines share an account: not root');

/** Whoever has broken out of a guest is its machine's account, which writes the machine's disk file as it likes. */
describe.skipIf(skip !== null)('a machine whose account is hostile', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  let files: MachineFiles;
  let owner: Owner | null;
  let secret: string;

  const refused = { code: 'disk_failed', permanent: true, message: expect.stringContaining('refused') };
  const whole = 'what only root may read and write'.padEnd(2 ** 20);

  beforeAll(async () => {
    bed = await testbed(21, 'tiny', {});
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = bed.spec(1);
    files = machineFiles(bed.options, spec.id);
    owner = await ownAccount(files);
    secret = join(bed.options.dir, 'secret.key');
    await writeFile(secret, whole, { mode: 0o600 });
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    await hypervisor.createSnapshot(spec.id, 'clean');
    await hypervisor.createBackup(spec.id, 'clean');
  }, 120_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  const headers: [string, () => Promise<unknown>][] = [
    [
      'names a file of the host below itself',
      () => runProgram(['qemu-img', 'rebase', '-u', '-f', 'qcow2', '-F', 'raw', '-b', secret, files.disk]),
    ],
    [
      'names an image that is not its own',
      () =>
        runProgram([
          'qemu-img',
          'rebase',
          '-u',
          '-f',
          'qcow2',
          '-F',
          'qcow2',
          '-b',
          '../x/disk.qcow2',
          files.disk,
        ]),
    ],
    [
      'names a file of the host that holds its data',
      async () => {
        await runProgram(
          ['qemu-img', 'create', '-q', '-f', 'qcow2', '-o', 'data_file=elsewhere', files.disk, '1G'],
          {
            cwd: files.dir,
          },
        );
        const disk = await readFile(files.disk);
        const name = Buffer.from('elsewhere');
        disk.fill(0, disk.indexOf(name), disk.indexOf(name) + name.length);
        disk.write('../../secret.key', disk.indexOf(Buffer.from('DATA')) + 8);
        disk.writeUInt32BE(16, disk.indexOf(Buffer.from('DATA')) + 4);
        await writeFile(files.disk, disk);
      },
    ],
  ];

  it.each(headers)('has nothing done for it once its disk %s', { timeout: 60_000 }, async (_, craft) => {
    const before = await readFile(files.disk);
    await craft();
    await expect(hypervisor.start(spec)).rejects.toMatchObject(refused);
    await expect(hypervisor.resize({ ...spec, diskGib: 2 })).rejects.toMatchObject(refused);
    await expect(hypervisor.createSnapshot(spec.id, 'one')).rejects.toMatchObject(refused);
    await expect(hypervisor.createBackup(spec.id, 'one')).rejects.toMatchObject(refused);
    await expect(hypervisor.restoreBackup(spec, 'clean')).rejects.toMatchObject(refused);
    expect(await readFile(secret, 'utf8')).toBe(whole);
    await writeFile(files.disk, before);
    expect(await hypervisor.listBackups(spec.id)).toHaveLength(1);
  });

  it('has nobody else’s file opened by the programs that work on its disk', async () => {
    const before = await readFile(files.disk);
    await runProgram(['qemu-img', 'rebase', '-u', '-f', 'qcow2', '-F', 'raw', '-b', secret, files.disk]);
    const info = asAccount(owner, ['qemu-img', 'info', '--backing-chain', 'disk.qcow2']);
    await expect(runProgram(info, { cwd: files.dir })).rejects.toThrow('Permission denied');
    await writeFile(files.disk, before);
  });

  it('cannot change a backup that was made of it', async () => {
    const backup = join(files.dir, 'backups/clean.qcow2');
    expect((await stat(backup)).uid).toBe(0);
    const overwrite = asAccount(owner, ['dd', 'if=/dev/zero', 'of=backups/clean.qcow2', 'count=1']);
    await expect(runProgram(overwrite, { cwd: files.dir })).rejects.toThrow('Permission denied');
  });

  it('runs without any right of root, and cannot put another socket in place of its own', {
    timeout: 60_000,
  }, async () => {
    await hypervisor.restoreBackup(spec, 'clean');
    await hypervisor.start(spec);
    const status = await readFile(`/proc/${await findProcess(files)}/status`, 'utf8');
    const id = owner?.uid;
    expect(status).toMatch(new RegExp(`^Uid:\\t${id}\\t${id}\\t${id}\\t${id}$`, 'm'));
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toMatch(new RegExp(`^Cap${set}:\\t0+$`, 'm'));
    expect(await stat(files.runDir)).toMatchObject({ uid: 0, gid: 0 });
    expect((await stat(files.runDir)).mode & 0o777).toBe(0o700);
  });

  it('is not copied when it writes another header while it runs', { timeout: 60_000 }, async () => {
    const header = (await readFile(files.disk)).subarray(0, 65_536);
    const hostile = Buffer.from(header);
    hostile.writeUInt32BE(hostile.readUInt32BE(76) | 4, 76); // its data lies in another file
    const handle = await open(files.disk, 'r+');
    await handle.write(hostile, 0, hostile.length, 0);
    await expect(hypervisor.createBackup(spec.id, 'two')).rejects.toMatchObject(refused);
    await handle.write(header, 0, header.length, 0);
    await handle.close();
    expect(await hypervisor.createBackup(spec.id, 'two')).toMatchObject({ name: 'two' });
  });

  it('runs until its power is taken, and not after, whatever it writes of which process it is', {
    timeout: 60_000,
  }, async () => {
    await hypervisor.start(spec);
    const pid = (await findProcess(files)) ?? 0;
    // It holds its pid file open, and its arguments lie in its own memory.
    const argumentsAt = Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[45]);
    const memory = await open(`/proc/${pid}/mem`, 'r+');
    await memory.write(Buffer.alloc(32, 'x'), 0, 32, argumentsAt);
    await memory.close();
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toMatch(/^x{32}/);
    for (const lie of ['', String(process.pid)]) {
      await writeFile(files.pidFile, lie);
      expect(await hypervisor.inspect(spec.id)).toMatchObject({ power: 'running' });
    }
    await hypervisor.close();
    hypervisor = bed.open(); // the product's next start
    await hypervisor.prepare(() => undefined);
    expect(await hypervisor.inspect(spec.id)).toMatchObject({ power: 'running' });
    await hypervisor.powerOff(spec.id);
    expect(await hypervisor.inspect(spec.id)).toMatchObject({ power: 'stopped' });
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('reads its seeds, and has no say in what they hold', { timeout: 60_000 }, async () => {
    await hypervisor.start({ ...spec, boot: 'rescue' });
    for (const seed of [files.seed, files.rescueSeed]) {
      const overwrite = asAccount(owner, ['dd', 'if=/dev/zero', `of=${basename(seed)}`, 'count=1']);
      await expect(runProgram(overwrite, { cwd: files.dir }), seed).rejects.toThrow('Permission denied');
    }
  });
});
