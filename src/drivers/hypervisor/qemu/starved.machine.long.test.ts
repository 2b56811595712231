import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { machineFiles } from './files.ts';
import { connectQmp } from './qmp.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`A node without disk space is not tested: ${skip}`);

describe.skipIf(skip !== null)('a node without disk space', () => {
  let bed: Testbed;
  let spec: MachineSpec;
  let hypervisor: Hypervisor;
  const logged: string[] = [];
  const space = (mib: number, ...options: string[]) =>
    runAsRoot(['mount', '-t', 'tmpfs', '-o', [`size=${mib}m`, ...options].join(), 'tmpfs', bed.options.dir]);

  beforeAll(async () => {
    bed = await testbed(9, 'tiny', {});
    bed.options.log = {
      ...bed.options.log,
      error: (_fields: object, line: string) => void logged.push(line),
    };
    await mkdir(bed.options.dir);
    await space(40);
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = await bed.boot(hypervisor, 1);
  });

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    await runAsRoot(['umount', bed.options.dir]);
    bed.remove();
  });

  it('makes its machines wait, also for another of our processes, and lose nothing', async () => {
    const write = 'dd if=/dev/urandom of=/big bs=1M count=60 conv=fsync 2>/dev/null && md5sum < /big';
    // It begins after the answer: a quick disk is full within a second, and a machine that waits answers nobody.
    const copy = bed.inGuest(spec, `(sleep 3; ${write}) > /sum 2>&1 < /dev/null & echo begun`);
    expect(await copy).toContain('begun');
    await expect.poll(() => logged.join(), { timeout: 60_000 }).toContain('no disk space left');
    expect((await hypervisor.inspect(spec.id)).power).toBe('running');
    await hypervisor.close();
    const qmp = await connectQmp(machineFiles(bed.options, spec.id).qmpSocket);
    expect(await qmp.command('query-status')).toMatchObject({ status: 'io-error' });
    qmp.close();
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    await space(200, 'remount');
    const same = '[ "$(md5sum < /big)" = "$(cat /sum)" ] && [ -s /sum ] && echo the same';
    const result = () => bed.inGuest(spec, `${same}; true`).catch((error: Error) => error.message);
    await expect.poll(result, { timeout: 120_000, interval: 2_000 }).toContain('the same');
  });
});
