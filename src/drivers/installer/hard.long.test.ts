import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRack, type Rack, type RackOptions } from '../../../test/rack/netboot.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`What goes wrong while servers are installed is not tested: ${skip}`);

const patienceMs = 300_000;
const disks: RackOptions['disks'] = [
  { serial: 'NVME-0001', kind: 'nvme', mib: 192 },
  { serial: 'SATA-0001', kind: 'sata', mib: 192 },
];
const serials = disks.map((disk) => disk.serial);

async function rackOf(number: number, change: Partial<RackOptions> = {}): Promise<Rack> {
  const rack = await openRack({ number, tree: rackTree, installer: installer ?? '', disks, ...change });
  await rack.netboot.reserve(rack.mac, rack.address);
  return rack;
}

/** Has the server start anew with this plan, and waits for how it ends. */
async function started(rack: Rack, plan: Plan): Promise<Report> {
  await rack.server.off();
  rack.desk.reports = [];
  rack.desk.plan = plan;
  rack.starts = 'installer';
  rack.server.on();
  const ended = () => rack.told('done')[0] ?? rack.told('failed')[0] ?? null;
  await expect.poll(ended, { timeout: 2 * patienceMs, interval: 500 }).not.toBeNull();
  rack.starts = 'disk';
  return ended() as Report;
}

/** The first 64 MiB of a disk, of which all that starts a system is, or more. */
async function beginningOf(rack: Rack, serial: string, mib = 64): Promise<Buffer> {
  const file = await open(await rack.server.rawDisk(serial));
  try {
    const { buffer } = await file.read(Buffer.alloc(mib * 2 ** 20), 0, mib * 2 ** 20, 0);
    return buffer;
  } finally {
    await file.close();
  }
}

/** Neither MBR nor partitions nor GRUB: all of them stand in the first two MiB. */
async function startsNothing(rack: Rack, serial: string): Promise<boolean> {
  return (await beginningOf(rack, serial)).subarray(0, 2 * 2 ** 20).every((byte) => byte === 0);
}

describe.skipIf(skip !== null)('a server with BIOS and two disks', () => {
  let rack: Rack;
  beforeAll(async () => {
    rack = await rackOf(2);
  });
  afterAll(() => rack.close());

  it('has nothing to start after an image that broke off, and after one with another checksum', async () => {
    rack.desk.image = { file: rack.tree.file, breaksOffAfter: 5_000_000 };
    expect(await started(rack, rack.installs(serials))).toEqual({
      kind: 'failed',
      reason: 'the image broke off',
    });
    await rack.server.off();
    for (const serial of serials) expect(await startsNothing(rack, serial)).toBe(true);
    rack.desk.image = { file: rack.tree.file };
    const lie = { ...rack.installs(serials), image: { sha256: '0'.repeat(64) } };
    expect(await started(rack, lie)).toEqual({
      kind: 'failed',
      reason: `the image's checksum is ${rack.tree.sha256}, not the expected one`,
    });
    await rack.server.off();
    for (const serial of serials) expect(await startsNothing(rack, serial)).toBe(true);
  }, 1_800_000);

  it('has nothing to start when its power goes while its image is written', async () => {
    await rack.server.off();
    rack.desk.reports = [];
    rack.desk.plan = rack.installs(serials);
    rack.desk.image = { file: rack.tree.file, stallsAfter: 5_000_000 };
    rack.starts = 'installer';
    rack.server.on();
    const stands = () => rack.told('progress').some(({ bytes }) => bytes >= 4_900_000);
    await expect.poll(stands, { timeout: 2 * patienceMs, interval: 500 }).toBe(true);
    // By then its kernel has written to the disks what it was given, and nobody has given up waiting for the rest.
    await delay(40_000);
    expect(rack.told('failed')).toEqual([]);
    await rack.server.off();
    for (const serial of serials) {
      const bytes = await beginningOf(rack, serial, 192);
      const filled = (from: number, to: number) =>
        bytes.subarray(from, to).reduce((sum, each) => sum + (each === 0 ? 0 : 1), 0);
      // Its partitions are there, and a part of the system in the third: neither MBR nor GRUB, nor anything for UEFI.
      expect(filled(512, 1_024)).toBeGreaterThan(0);
      expect(filled(34 * 2 ** 20, bytes.length)).toBeGreaterThan(1_000_000);
      expect([serial, filled(0, 440), filled(2 ** 20, 2 * 2 ** 20)]).toEqual([serial, 0, 0]);
      expect(bytes.subarray(2 * 2 ** 20, 34 * 2 ** 20).includes('BOOTX64')).toBe(false);
    }
  }, 1_200_000);

  it('is wiped and ends whole when it is tried again after that, and starts from either disk when the other is taken away', async () => {
    rack.desk.image = { file: rack.tree.file };
    expect(await started(rack, rack.installs(serials))).toEqual({ kind: 'done' });
    expect(rack.told('wiped').map(({ wiped }) => [wiped.serial, wiped.marksLeft, wiped.notZero])).toEqual(
      serials.map((serial) => [serial, 0, 0]),
    );
    await expect.poll(() => rack.ssh('cat /proc/mdstat'), { timeout: patienceMs }).toContain('[UU]');
    for (const serial of serials) {
      await rack.server.off();
      rack.server.pull(serial, true);
      rack.server.on();
      await expect.poll(() => rack.ssh('cat /proc/mdstat'), { timeout: patienceMs }).toMatch(/\[(U_|_U)\]/);
      await rack.server.off();
      rack.server.pull(serial, false);
    }
  }, 1_800_000);
});

describe.skipIf(skip !== null)('a server with UEFI', () => {
  let rack: Rack;
  beforeAll(async () => {
    rack = await rackOf(3, { firmware: 'uefi' });
    for (const serial of serials) await rack.server.leaveBehind(serial, 0x5a, '20M', '1M');
  });
  afterAll(() => rack.close());

  it('is a rescue system with the customer’s keys, and its disks stay as they are', async () => {
    const { hostname, keys, mac, addresses, nameservers } = rack.installs(serials).identity;
    const before = await Promise.all(serials.map((serial) => beginningOf(rack, serial)));
    expect(
      await started(rack, {
        task: 'rescue',
        hostname,
        keys,
        passwordHash: null,
        mac,
        addresses,
        nameservers,
      }),
    ).toEqual({
      kind: 'done',
    });
    await expect.poll(() => rack.ssh('hostname'), { timeout: patienceMs }).toBe(`${hostname}\n`);
    expect(await rack.ssh('cat /etc/resolv.conf')).toBe(
      nameservers.map((each) => `nameserver ${each}\n`).join(''),
    );
    expect(await rack.ssh('ls /run; cat /proc/mounts')).not.toMatch(/innkeeper|\/dev\/(nvme|sd|md)/);
    await rack.server.off();
    const after = await Promise.all(serials.map((serial) => beginningOf(rack, serial)));
    expect(after.map((each, index) => each.equals(before[index] ?? Buffer.alloc(0)))).toEqual([true, true]);
  }, 1_200_000);

  it('is installed, and its firmware goes on from the network to its disks', async () => {
    rack.desk.image = { file: rack.tree.file };
    expect(await started(rack, rack.installs(serials))).toEqual({ kind: 'done' });
    await expect.poll(() => rack.ssh('cat /proc/mdstat'), { timeout: patienceMs }).toContain('[UU]');
    expect(await rack.ssh('ls -d /sys/firmware/efi')).toBe('/sys/firmware/efi\n');
    expect(rack.answered.at(-1)).toBe('disk');
  }, 1_800_000);
});

describe.skipIf(skip !== null)('a disk that refuses to be erased', () => {
  let rack: Rack;
  beforeAll(async () => {
    rack = await rackOf(4, {
      disks: disks.map((disk) => ({ ...disk, refusesWrites: disk.kind === 'sata' })),
    });
    await rack.server.leaveBehind('SATA-0001', 0x5a, '20M', '1M');
  });
  afterAll(() => rack.close());

  it('is named, is not said to be wiped, and nothing is installed', async () => {
    rack.desk.image = { file: rack.tree.file };
    expect(await started(rack, rack.installs(serials))).toEqual({
      kind: 'failed',
      reason: 'the disk SATA-0001 could not be wiped',
    });
    const wiped = rack.told('wiped').map((report) => report.wiped);
    expect(wiped.map(({ serial, method }) => [serial, method])).toEqual([
      ['NVME-0001', 'format-user-data'],
      ['SATA-0001', null],
    ]);
    expect(wiped[1]?.tried[0]).toMatchObject({ method: 'marks', exit: 1 });
    expect(rack.told('step').map(({ step }) => step)).not.toContain('partition');
  }, 900_000);
});
