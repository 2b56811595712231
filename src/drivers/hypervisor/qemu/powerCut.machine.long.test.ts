import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Disk, openDisk } from '../../../../test/powerCut.ts';
import { runProgram } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { imageStore } from '../images/store.ts';
import { type MachineFiles, machineFiles } from './files.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');

/** What the driver has said is done must be there when the host has its power again: the database says so as well. */
describe.skipIf(skip !== null)('what a node has been told to keep outlives a power cut', () => {
  let bed: Testbed;
  let disk: Disk;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  let files: MachineFiles;

  beforeAll(async () => {
    bed = await testbed(8, 'tiny', {});
    spec = bed.spec(1);
    files = machineFiles(bed.options, spec.id);
    disk = await openDisk(bed.options.dir, 512);
    await chmod(bed.options.dir, 0o755);
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
  }, 120_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    await disk?.close();
    bed?.remove();
  });

  it('a machine that was made, before its first start and after', async () => {
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    expect(await disk.lost()).toEqual([]);
  });

  it('a backup of a stopped machine, and what is restored from it', async () => {
    // Contents of its own.
    const junk = join(bed.options.dir, '..', 'junk');
    await writeFile(junk, randomBytes(2 ** 20));
    await runProgram(['qemu-io', '-f', 'qcow2', '-c', `write -s ${junk} 0 1M`, files.disk]);
    await hypervisor.createBackup(spec.id, 'one');
    expect(await disk.lost()).toEqual([]);
    await runProgram(['qemu-io', '-f', 'qcow2', '-c', 'write -P 7 0 8M', files.disk]);
    await hypervisor.restoreBackup(spec, 'one');
    expect(await disk.lost()).toEqual([]);
  });

  it('other addresses, another system, and secrets that are forgotten', async () => {
    const { nic } = spec;
    await hypervisor.setAddresses({ ...spec, nic: { ...nic, addresses: nic.addresses.slice(0, 1) } });
    expect(await disk.lost()).toEqual([]);
    await hypervisor.rebuildDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    expect(await disk.lost()).toEqual([]);
    await hypervisor.forgetSecrets(spec.id);
    expect(await disk.lost()).toEqual([]);
  });

  it('the hardware that its guest has met', async () => {
    await hypervisor.start(spec);
    // What its guest writes meanwhile is its own, and so is what QEMU prints.
    const lost = (await disk.lost()).filter((each) => !/(disk\.qcow2|qemu\.log) /.test(each));
    expect(lost).toEqual([]);
    expect(await readFile(files.machineType, 'utf8')).toMatch(/^pc-q35-/);
    await hypervisor.powerOff(spec.id);
  });

  it('an image that machines are made of', async () => {
    const content = Buffer.alloc(2 ** 20, 7);
    content.writeUInt16BE(0x55aa, 510);
    const server = createServer((_, answer) => answer.end(content)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sha256 = createHash('sha256').update(content).digest('hex');
    const source = {
      kind: 'download',
      url: `http://127.0.0.1:${port}/`,
      sha256,
      guest: 'cloud-init',
    } as const;
    const images = imageStore(join(bed.options.dir, 'images'));
    await images.ensure({ slug: 'other', ...source }, () => undefined);
    server.close();
    expect((await disk.lost()).filter((each) => each.startsWith('images/'))).toEqual([]);
  });

  it('that it is gone', async () => {
    await hypervisor.destroy(spec.id);
    expect(await disk.lost()).toEqual([]);
  });
});
