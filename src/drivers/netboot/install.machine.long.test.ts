import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRack, type Rack } from '../../../test/rack/netboot.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`Starting servers from the network is not tested: ${skip}`);

const disks = ['NVME-0001', 'SATA-0001'];

describe.skipIf(skip !== null)('a server that starts from the network', () => {
  let rack: Rack;
  beforeAll(async () => {
    rack = await openRack({
      ...{ number: 1, tree: rackTree, installer: installer ?? '' },
      disks: [
        { serial: 'NVME-0001', kind: 'nvme', mib: 192 },
        { serial: 'SATA-0001', kind: 'sata', mib: 192 },
      ],
    });
    // What somebody left, in the middle of each.
    for (const serial of disks) await rack.server.leaveBehind(serial, 0x5a, '90M', '2M');
  });
  afterAll(() => rack.close());

  it('is wiped, installed on two disks, and starts from them by itself when it is installed', async () => {
    await rack.netboot.reserve(rack.mac, rack.address);
    rack.desk.plan = rack.installs(disks);
    rack.desk.image = { file: rack.tree.file };
    // A stranger's start beside it, who copied the MAC address.
    rack.desk.open();
    rack.server.on();
    await expect.poll(() => rack.told('inventory'), { timeout: 240_000, interval: 500 }).toHaveLength(1);
    expect(rack.told('inventory')[0]?.inventory).toEqual({
      system: {
        uuid: 'a1234567-89ab-cdef-a123-456789abcdef',
        ...{ vendor: 'Example', product: 'R1', serial: 'R1-0001' },
      },
      firmware: { version: expect.any(String), boot: 'bios' },
      processor: {
        model: expect.stringContaining('QEMU'),
        sockets: expect.any(Number),
        cores: 2,
        threads: 2,
      },
      memoryMib: expect.any(Number),
      memoryModules: [{ slot: 'DIMM 0', mib: 768, type: 'RAM' }],
      disks: expect.arrayContaining([
        expect.objectContaining({ serial: 'NVME-0001', kind: 'nvme', bytes: 192 * 2 ** 20, healthy: true }),
        expect.objectContaining({ serial: 'SATA-0001', kind: 'hdd', bytes: 192 * 2 ** 20, healthy: true }),
      ]),
      ports: [{ name: 'eth0', mac: rack.mac, linked: true, speedMbps: 1_000 }],
      ...{ bmc: null, bootOrder: null },
    });

    // From now on it is to start what is on its disks.
    rack.starts = 'disk';
    await expect.poll(() => rack.told('wiped').length, { timeout: 240_000, interval: 500 }).toBe(2);
    expect(rack.told('wiped').map(({ wiped }) => [wiped.serial, wiped.method, wiped.marksLeft])).toEqual([
      ['NVME-0001', 'format-user-data', 0],
      ['SATA-0001', 'overwrite', 0],
    ]);
    await expect
      .poll(() => rack.told('done').length + rack.told('failed').length, { timeout: 240_000, interval: 500 })
      .toBe(1);
    expect(rack.told('failed')).toEqual([]);
    expect(rack.desk.starts.map((start) => start.proved)).toEqual([true]);
    expect(rack.told('progress').at(-1)?.bytes).toBeGreaterThan(1_000_000);

    await expect.poll(() => rack.ssh('hostname'), { timeout: 240_000 }).toBe('metal1.example.com\n');
    expect(rack.answered).toEqual(['installer', 'disk']);
    expect(await rack.ssh('cat /proc/mdstat')).toContain('[UU]');
    expect(await rack.ssh('cat /etc/fstab')).toMatch(/^UUID=[0-9a-f-]{36} \/ ext4 /);
    expect(await rack.ssh('cat /etc/resolv.conf')).toBe('nameserver 192.0.2.53\n');
    // What opens the system is in its own files alone.
    expect(await rack.ssh('ls /etc/innkeeper/identity')).toBe('hostname\nmac\nnetwork\nresolv.conf\n');
  }, 900_000);
});
