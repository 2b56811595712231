import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { machineFiles } from './files.ts';
import { findProcess } from './process.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

describe.skipIf((await reasonToSkip('tiny')) !== null)('a node that has lost its KVM', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let device: string;
  const make = async (number: number) => {
    const spec = bed.spec(number);
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    return spec;
  };
  const commandLine = async (id: string) =>
    readFile(`/proc/${await findProcess(machineFiles(bed.options, id))}/cmdline`, 'utf8');

  beforeAll(async () => {
    bed = await testbed(25, 'tiny', {});
    device = join(bed.options.dir, 'kvm');
    bed.options.kvm = { device, boot: async () => null };
    bed.options.log.error = () => undefined; // it says so
    await mkdir(bed.options.dir, { recursive: true });
    await writeFile(device, ''); // a device that looks good, and a host where QEMU can do nothing with it
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
  }, 120_000);

  afterAll(async () => {
    for (const number of [1, 2]) await hypervisor?.destroy(bed.spec(number).id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('starts the machines that it has, slowly, and no new ones; and says why', {
    timeout: 60_000,
  }, async () => {
    await hypervisor.ensureImage(bed.image, () => undefined);
    expect(await hypervisor.troubles()).toEqual([]);
    const old = await make(1);
    await writeFile(machineFiles(bed.options, old.id).machineType, ''); // it has run before
    await rm(device);

    await expect(hypervisor.start(await make(2))).rejects.toMatchObject({
      code: 'host_not_ready',
      permanent: false,
    });
    await hypervisor.start(old);
    expect(await commandLine(old.id)).toContain('tcg');
    const [trouble] = await hypervisor.troubles();
    expect(trouble).toMatch(/^KVM has worked here and does not any more \(.* is not there/);

    await hypervisor.close();
    hypervisor = bed.open(); // the product's next start
    await hypervisor.prepare(() => undefined);
    expect(await hypervisor.troubles()).toEqual([trouble]);
    expect((await hypervisor.inspect(old.id)).power).toBe('running');
    await writeFile(device, '');
    expect(await hypervisor.troubles()).toEqual([]);
  });
});
