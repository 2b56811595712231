import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRack, type Rack } from '../../../test/rack/netboot.ts';
import { packDisk, readDisk } from './disks/store.ts';
import { type InstallPlan, type PackedSystem, type Plan, seedOf } from './index.ts';
import type { Report } from './report.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`Images of disks on servers are not tested: ${skip}`);

const patienceMs = 300_000;
const mib = 2 ** 20;
/** The image is made of the first, and goes to the second. */
const [first, second] = ['NVME-0001', 'SATA-0001'];

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

/** A plan that puts the image onto the second disk. */
function putsImage(rack: Rack, { sha256, disk }: PackedSystem, userData: string | null = null): InstallPlan {
  const plan = rack.installs([second]);
  const identity = { ...plan.identity, hostname: 'image.example.com', userData };
  if (disk === null) throw new Error('it is no image');
  return {
    ...plan,
    identity,
    image: { sha256, disk: { ...disk, seed: seedOf('installation-1', identity) } },
  };
}

/** Whether there is anything at the places of a disk where a table of partitions or a program that starts it would be. */
async function startsNothing(rack: Rack, image: PackedSystem): Promise<boolean> {
  const raw = await rack.server.rawDisk(second);
  const file = await open(raw);
  try {
    const { size } = await file.stat();
    const end = image.disk?.bytes ?? 0;
    for (const at of [0, end - mib, size - mib]) {
      const { buffer } = await file.read(Buffer.alloc(mib), 0, mib, at);
      if (buffer.some((byte) => byte !== 0)) return false;
    }
    return true;
  } finally {
    await file.close();
  }
}

/** The partition that says who the server is, as it is on the disk, by the table at its beginning (UEFI 2.10, 5.3). */
async function seedPartition(rack: Rack): Promise<string> {
  const content = await readFile(await rack.server.rawDisk(second));
  const at = Number(content.readBigUInt64LE(512 + 72)) * 512;
  const entries = Array.from({ length: content.readUInt32LE(512 + 80) }, (_, nth) => {
    const size = content.readUInt32LE(512 + 84);
    return content.subarray(at + nth * size, at + (nth + 1) * size);
  });
  const found = entries.find((entry) => entry.toString('utf16le', 56, 68) === 'cidata');
  if (found === undefined) throw new Error('nothing says who the server is');
  const [start, end] = [Number(found.readBigUInt64LE(32)), Number(found.readBigUInt64LE(40)) + 1];
  expect(end - start).toBe(8_192);
  return content.toString('latin1', start * 512, end * 512);
}

describe.skipIf(skip !== null)('the image of a disk', () => {
  let rack: Rack;
  let dir: string;
  let image: PackedSystem;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-disk-'));
    rack = await openRack({
      ...{ number: 21, tree: rackTree, installer: installer ?? '' },
      disks: [
        { serial: first, kind: 'nvme', mib: 192 },
        { serial: second, kind: 'sata', mib: 256 },
      ],
    });
    await rack.netboot.reserve(rack.mac, rack.address);
  }, 900_000);
  afterAll(async () => {
    await rack?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('starts although another disk has a system of ours, and says by a partition who the server is', async () => {
    // A system that starts by itself, as those that vendors offer: what the installer makes of a file tree.
    rack.desk.image = { file: rack.tree.file };
    expect(await started(rack, rack.installs([first]))).toEqual({ kind: 'done' });
    await rack.server.off();
    await packDisk(await rack.server.rawDisk(first), dir);
    image = await readDisk(dir);
    // Another one stands there, which would be found first.
    expect(await started(rack, rack.installs([first]))).toEqual({ kind: 'done' });
    rack.desk.image = { file: image.file };
    const userData = '#cloud-config\nruncmd: [[touch, "/root/$(here)"]]\n';
    expect(await started(rack, putsImage(rack, image, userData))).toEqual({ kind: 'done' });
    expect(rack.told('wiped').map(({ wiped }) => wiped.serial)).toEqual([second]);
    expect(rack.told('step').map(({ step }) => step)).toEqual([
      ...[`wipe ${second}`, 'write', 'check', 'identity', 'boot'],
    ]);
    expect(rack.told('progress').at(-1)?.bytes).toBeGreaterThan(5_000_000);
    await expect
      .poll(() => rack.ssh('cat /proc/mounts'), { timeout: patienceMs })
      .toContain('/dev/sda3 / ext4');
    await rack.server.off();
    const seed = await seedPartition(rack);
    expect(seed).toContain('CIDATA');
    expect(seed).toContain(userData);
    expect(seed).toContain('"local-hostname":"image.example.com"');
    expect(seed).toContain(`"macaddress":"${rack.mac}"`);
  }, 1_800_000);

  it('gives way to what is installed on another disk', async () => {
    rack.desk.image = { file: rack.tree.file };
    // The firmware comes to the image first.
    rack.server.pull(first, true);
    rack.server.on();
    await expect
      .poll(() => rack.ssh('cat /proc/mounts'), { timeout: patienceMs })
      .toContain('/dev/sda3 / ext4');
    await rack.server.off();
    rack.server.pull(first, false);
    expect(await started(rack, rack.installs([first]))).toEqual({ kind: 'done' });
    await rack.server.off();
    expect(await seedPartition(rack)).not.toMatch(/CIDATA|local-hostname/);
    // Whatever starts it is told at once that there is nothing to start.
    const start = (await readFile(await rack.server.rawDisk(second))).subarray(0, 5);
    expect(start.toString('hex')).toBe('cd18f4ebfd');
    rack.server.on();
    await expect
      .poll(() => rack.ssh('cat /proc/mounts'), { timeout: patienceMs })
      .toContain('/dev/nvme0n1p3 / ext4');
  }, 1_800_000);

  it('leaves nothing to start where it came cut, with another checksum, or is read back as something else', async () => {
    const plan = putsImage(rack, image);
    rack.desk.image = { file: image.file, breaksOffAfter: 5_000_000 };
    expect(await started(rack, plan)).toEqual({ kind: 'failed', reason: 'the image broke off' });
    await rack.server.off();
    expect(await startsNothing(rack, image)).toBe(true);

    rack.desk.image = { file: image.file };
    const lie = { ...plan, image: { ...plan.image, sha256: '0'.repeat(64) } };
    expect(await started(rack, lie)).toEqual({
      kind: 'failed',
      reason: `the image's checksum is ${image.sha256}, not the expected one`,
    });
    await rack.server.off();
    expect(await startsNothing(rack, image)).toBe(true);

    if (plan.image.disk === undefined) throw new Error('it is no image');
    const disk = { ...plan.image.disk, sha256: '0'.repeat(64) };
    expect(await started(rack, { ...plan, image: { ...plan.image, disk } })).toEqual({
      kind: 'failed',
      reason: `what can be read from the disk ${second} is not what was written`,
    });
    await rack.server.off();
    expect(await startsNothing(rack, image)).toBe(true);
  }, 1_800_000);

  it('is not begun on a disk that is too small for it', async () => {
    const plan = putsImage(rack, image);
    const onFirst = { ...plan, wipe: [first], layout: { kind: 'single' as const, serials: [first] } };
    expect(await started(rack, onFirst)).toEqual({
      kind: 'failed',
      reason: `the disk ${first} has 192 MiB, and the system takes 200`,
    });
  }, 900_000);
});
