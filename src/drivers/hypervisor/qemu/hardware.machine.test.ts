import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { type MachineFiles, machineFiles } from './files.ts';
import { findProcess } from './process.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

describe.skipIf((await reasonToSkip('tiny')) !== null)('a machine on its host', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  let files: MachineFiles;
  const ofProcess = async (file: string) => readFile(`/proc/${await findProcess(files)}/${file}`, 'utf8');
  const hardware = async () => /pc-q35-[\d.]+/.exec(await ofProcess('cmdline'))?.[0];

  beforeAll(async () => {
    bed = await testbed(24, 'tiny', {});
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = await bed.start(hypervisor, 1);
    files = machineFiles(bed.options, spec.id);
  }, 120_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('keeps the hardware that it was first started with, until its system is made anew', async () => {
    const first = await hardware();
    expect(first).toBeDefined();
    expect(await readFile(files.machineType, 'utf8')).toBe(`${first}\n`);
    await hypervisor.powerOff(spec.id);
    await writeFile(files.machineType, 'pc-q35-6.2\n'); // as if it had been made under an older QEMU
    await hypervisor.start(spec);
    expect(await hardware()).toBe('pc-q35-6.2');
    await hypervisor.powerOff(spec.id);
    await hypervisor.rebuildDisk(spec);
    await hypervisor.start(spec);
    expect(await hardware()).toBe(first);
  });

  it('is the first to go when the memory of the host ends', async () => {
    expect((await ofProcess('oom_score_adj')).trim()).toBe('500');
  });
});
