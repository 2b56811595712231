import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeCluster } from '../clusterConformance.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { incusCluster } from './driver.ts';
import { type IncusBed, incusBed, reasonToSkip } from './testbed.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`A cluster of three is not tested: ${skip}`);

describe.skipIf(skip !== null)('an Incus cluster of three members', () => {
  let bed: IncusBed;
  const on = new Map<string, Hypervisor>();
  const opened = (member: string) => {
    const driver = on.get(member) ?? bed.open({ member });
    on.set(member, driver);
    return driver;
  };
  async function make(name: string, number: number): Promise<MachineSpec> {
    const spec = bed.spec(number);
    await opened(name).createDisk(spec);
    await opened(name).writeIdentity(spec, bed.identity);
    return spec;
  }

  beforeAll(async () => {
    bed = await incusBed(33, 3);
    await opened('n1').ensureImage(bed.image, () => undefined);
    for (const name of ['n1', 'n2', 'n3']) await opened(name).prepare(() => undefined);
  }, 300_000);
  afterAll(async () => {
    for (const driver of on.values()) await driver.close();
    bed?.remove();
  });

  it('runs machines on the members it is told, and is asked at any of them', {
    timeout: 200_000,
  }, async () => {
    const [two, three] = [await make('n2', 1), await make('n3', 2)];
    await opened('n1').start(two);
    await opened('n1').waitUntilReady(two, { timeoutMs: 150_000 });
    const anywhere = bed.open({ endpoints: bed.options.endpoints.toReversed() });
    expect(await anywhere.list()).toMatchObject([
      { id: two.id, power: 'running', node: 'n2' },
      { id: three.id, power: 'stopped', node: 'n3' },
    ]);
    expect(await bed.inGuest(two, 'hostname')).toBe('guest\n');
    expect(await anywhere.sample()).toMatchObject([{ id: two.id, memoryTotalBytes: 96 * 2 ** 20 }]);
    const line = await anywhere.openConsole(two.id, 'serial');
    line.write('\n');
    await expect.poll(() => String(line.read() ?? ''), { timeout: 20_000 }).toMatch(/login:/);
    line.destroy();
    await anywhere.close();
    for (const spec of [two, three]) {
      await opened('n1').destroy(spec.id);
      expect(await bed.leftovers(spec)).toEqual([]);
    }
    expect(await opened('n1').list()).toEqual([]);
  });
});

describeCluster(
  'an Incus cluster',
  async () => {
    const bed = await incusBed(38, 2);
    return {
      ...{ cluster: incusCluster(bed.options), other: incusCluster(bed.options), members: ['n1', 'n2'] },
      ...{ image: bed.image, identity: bed.identity, spec: bed.spec, readyTimeoutMs: 150_000 },
      nameOf: async (spec) => (await bed.inGuest(spec, 'hostname')).trim(),
      bootOf: (spec) => bed.inGuest(spec, 'cat /proc/sys/kernel/random/boot_id'),
      // The engine keeps a folder of devices at a member that a machine has left.
      leftovers: async (spec) =>
        (await bed.leftovers(spec)).filter((line) => !line.includes('/var/devices/')),
      remove: async () => bed.remove(),
    };
  },
  skip,
);
