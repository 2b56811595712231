import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { type MachineFiles, machineFiles } from './files.ts';
import { findProcess } from './process.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

describe.skipIf((await reasonToSkip('tiny')) !== null)('a QEMU that hangs', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  let files: MachineFiles;
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => process.kill((await findProcess(files)) ?? 0, name);
  const hangs = async () => (await hypervisor.inspect(spec.id)).hangs ?? false;

  beforeAll(async () => {
    bed = await testbed(23, 'tiny', {});
    bed.options.log.error = () => undefined; // it says that the machine hangs
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

  it('is noticed, said once, and forgotten when it answers', { timeout: 120_000 }, async () => {
    const heard: string[] = [];
    const stopListening = hypervisor.watch(({ id, power }) => heard.push(`${id} ${power}`));
    expect(await hangs()).toBe(false);
    await signal('SIGSTOP');
    await expect.poll(hangs, { timeout: 45_000 }).toBe(true);
    expect(await hypervisor.inspect(spec.id)).toMatchObject({ power: 'running', hangs: true });
    const began = Date.now();
    await expect(hypervisor.readScreen(spec.id)).rejects.toMatchObject({ code: 'screen_failed' });
    expect(Date.now() - began).toBeLessThan(10_000);
    await signal('SIGCONT');
    await expect.poll(hangs, { timeout: 45_000 }).toBe(false);
    expect(heard).toEqual([`${spec.id} running`, `${spec.id} running`]);
    stopListening();
  });

  it('loses its power at once, also while something else waits for it', { timeout: 60_000 }, async () => {
    await signal('SIGSTOP');
    const waiting = hypervisor.start(spec).catch(() => undefined);
    const began = Date.now();
    await hypervisor.powerOff(spec.id);
    expect(await findProcess(files)).toBeNull();
    expect(Date.now() - began).toBeLessThan(20_000);
    await waiting;
  });
});
