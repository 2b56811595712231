import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { machineFiles } from './files.ts';
import type { DiskLimits } from './options.ts';
import { connectQmp } from './qmp.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`Limits of disks are not tested: ${skip}`);

describe.skipIf(skip !== null)('what the disks of a machine do at most', { timeout: 120_000 }, () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;

  /** What QEMU holds each disk to. It speaks with one at a time: our process lets go, and finds the machine again. */
  async function held(): Promise<object[]> {
    await hypervisor.close();
    const qmp = await connectQmp(machineFiles(bed.options, spec.id).qmpSocket);
    const devices = (await qmp.command('query-block')) as { inserted: object }[];
    qmp.close();
    await adoptWith(bed.options.diskLimits);
    return devices.map(({ inserted }) => inserted);
  }

  const isHeld = async ({ iops, mbPerSecond }: DiskLimits, disks = 2) => {
    const found = await held();
    expect(found).toHaveLength(disks);
    for (const each of found)
      expect(each).toMatchObject({ iops, bps: mbPerSecond * 1_000_000, group: 'disks' });
  };

  /** Takes another of our processes, with these limits, to the machine that runs. */
  async function adoptWith(diskLimits: DiskLimits): Promise<void> {
    await hypervisor.close();
    bed.options.diskLimits = diskLimits;
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
  }

  /** Seconds for so many megabytes of the disk that nobody has read before. */
  let read = 100;
  async function secondsFor(mib: number): Promise<number> {
    const began = performance.now();
    await bed.inGuest(spec, `dd if=/dev/vda of=/dev/null bs=1M count=${mib} skip=${read} 2>/dev/null`);
    read += mib;
    return (performance.now() - began) / 1000;
  }

  beforeAll(async () => {
    bed = await testbed(29, 'tiny', {});
    bed.options.diskLimits = { iops: 500, mbPerSecond: 20 };
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = await bed.boot(hypervisor, 1);
  }, 200_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('is what the node says, of all of them together, from their first start on', async () => {
    await isHeld({ iops: 500, mbPerSecond: 20 });
  });

  it('changes for machines that run when another of our processes finds them', async () => {
    await adoptWith({ iops: 0, mbPerSecond: 0 });
    for (const each of await held()) expect(each).toMatchObject({ iops: 0, bps: 0 });
    await adoptWith({ iops: 400, mbPerSecond: 10 });
    await isHeld({ iops: 400, mbPerSecond: 10 });
  });

  it('is what they do: a disk that is held to less is slower', async () => {
    const mib = 32;
    await adoptWith({ iops: 0, mbPerSecond: 0 });
    const free = await secondsFor(mib);
    await adoptWith({ iops: 0, mbPerSecond: 5 });
    const limited = await secondsFor(mib);
    console.info(`${mib} MiB: ${free.toFixed(2)} s without a limit, ${limited.toFixed(2)} s at 5 MB/s`);
    expect(limited).toBeGreaterThan(5.5);
    expect(free).toBeLessThan(limited);
    await adoptWith({ iops: 400, mbPerSecond: 10 });
  });

  it('stays after a growth, a restored snapshot and a restart', async () => {
    spec = { ...spec, diskGib: 2 };
    await hypervisor.resize(spec);
    await isHeld({ iops: 400, mbPerSecond: 10 });
    await hypervisor.createSnapshot(spec.id, 'kept');
    await hypervisor.powerOff(spec.id);
    await hypervisor.restoreSnapshot(spec.id, 'kept');
    await hypervisor.start(spec);
    await isHeld({ iops: 400, mbPerSecond: 10 });
  });

  it('holds for the rescue system and the disk beside it too', async () => {
    await hypervisor.powerOff(spec.id);
    await hypervisor.start({ ...spec, boot: 'rescue' });
    await isHeld({ iops: 400, mbPerSecond: 10 }, 3);
  });
});
