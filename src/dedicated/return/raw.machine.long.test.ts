import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { printedProof, requireSigned } from '../../../test/rack/proofs.ts';
import { openRacked, type Racked, type Selling, sellRacked } from '../../../test/rack/racked.ts';
import type { Disk } from '../../../test/rack/server.ts';
import { orderDedicated } from '../../../test/rack/stocked.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`What is left on the disks of a real server that came back is not tested: ${skip}`);

/** For a delivery or a return: two starts of an emulated server each, on cores that others use too. */
const patienceMs = 900_000;
const mib = 192;
/** Two that their drives erase, on which the system is, and one beside them that has to be overwritten; with what the system calls them. */
const disks: (Disk & { device: string; method: string })[] = [
  { serial: 'NVME-0081', kind: 'nvme', mib, device: '/dev/nvme0n1', method: 'format-user-data' },
  { serial: 'NVME-0082', kind: 'nvme', mib, device: '/dev/nvme1n1', method: 'format-user-data' },
  { serial: 'SATA-0081', kind: 'sata', mib, device: '/dev/sda', method: 'overwrite' },
];
const mirrored = disks.filter(({ kind }) => kind === 'nvme');
/** Of the file system, which is on both disks of the mirror. */
const kept = 'kept-by-its-customer-0815';
/** Of a disk, past every file system. */
const hidden = (serial: string) => `hidden-by-its-customer-on-${serial}`;

describe.skipIf(skip !== null)('a server that comes back from its customer', () => {
  let dir: string;
  let racked: Racked;
  let selling: Selling;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-returned-'));
    racked = await openRacked(dir, { number: 8, tree: rackTree, images: installer ?? '', disks });
    selling = await sellRacked(dir, racked);
  });
  afterAll(async () => {
    await selling?.product.stop();
    await racked?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const rawOf = async (serial: string) => readFile(await racked.server.rawDisk(serial));
  const serverNow = async () =>
    (await selling.product.staff.get(`/staff/servers/${selling.serverId}`)).body.data.server;

  it(
    'has nothing on its disks of what the customer left there, byte for byte, and the signed proof says of each how it was wiped',
    async () => {
      const { product, customer, productId, ssh } = selling;
      await until(
        async () => (await product.staff.get('/staff/enrolment')).body.data.enrolment.networks[0]?.is_served,
        Boolean,
        60_000,
      );
      let beganMs = Date.now();
      const { serviceId } = await orderDedicated(customer, productId);
      const service = await until(
        async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service,
        ({ provisioning_state: state }) => state === 'done' || state === 'failed',
        patienceMs,
      );
      expect(service, JSON.stringify((await serverNow()).reason)).toMatchObject({ status: 'active' });
      console.log(`paid → SSH in ${Math.round((Date.now() - beganMs) / 1_000)} s`);

      const repeated = (mark: string, bytes: number) => `yes ${mark} | head -c ${bytes}`;
      const onto = (device: string, kib: number) => `dd of=${device} bs=1k seek=${kib} conv=notrunc,fsync`;
      const leaves = [
        ...['exec 2>&1', 'set -e', `${repeated(kept, 2 ** 22)} > /root/left`],
        // Between the table and the first partition, where the file system of the second has nothing, and in the midst of the disk with none.
        ...disks.flatMap(({ serial, device, kind }) => [
          `${repeated(hidden(serial), 2 ** 16)} | ${onto(device, 512)}`,
          `${repeated(hidden(serial), 2 ** 16)} | ${onto(kind === 'nvme' ? `${device}p2` : device, 30 * 1_024)}`,
        ]),
        ...['sync', 'echo all is left'],
      ];
      expect(await ssh(service.primary_ip, 'cat /proc/mdstat')).toContain('[UU]');
      expect(await ssh(service.primary_ip, leaves.join('\n'), patienceMs)).toMatch(/\nall is left\n$/);
      for (const { serial } of disks) {
        const raw = await rawOf(serial);
        expect(found(raw, kept)).toBeGreaterThan(
          mirrored.some((disk) => disk.serial === serial) ? 100_000 : -1,
        );
        expect(found(raw, hidden(serial))).toBeGreaterThan(2_000);
      }

      beganMs = Date.now();
      const cancelled = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
      expect(cancelled.status, cancelled.body.message).toBe(200);
      const back = await until(
        serverNow,
        ({ state }) => /^(ready|broken|quarantined)$/.test(state),
        patienceMs,
      );
      expect(back).toMatchObject({ state: 'ready', reason: null, service_id: null });
      console.log(`cancelled → in stock in ${Math.round((Date.now() - beganMs) / 1_000)} s`);
      expect((await racked.bmc.server()).runs).toBe(false);
      for (const { serial } of disks) {
        const raw = await rawOf(serial);
        expect([serial, found(raw, kept), found(raw, hidden(serial))]).toEqual([serial, 0, 0]);
        expect([serial, raw.length, raw.equals(Buffer.alloc(raw.length))]).toEqual([
          serial,
          mib * 2 ** 20,
          true,
        ]);
      }
      const { stock } = (await customer.get(`/products/${productId}`)).body.data.product;
      expect(stock).toBe(1);

      const { status, body } = await customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
      expect(status, body.message).toBe(200);
      const whole = { bytes: mib * 2 ** 20, drive_status: 'passed', marks: 32, marks_left: 0, not_zero: 0 };
      expect(body.data.erasure).toMatchObject({ service_id: serviceId, hostname: 'metal1.example.com' });
      expect(body.data.erasure.disks).toHaveLength(disks.length);
      for (const { serial, method } of disks)
        expect(body.data.erasure.disks).toContainEqual(
          expect.objectContaining({
            ...{ ...whole, serial, method, model: 'Disk' },
            tried: [
              { method: 'marks', exit: 0, log: expect.any(String) },
              { method, exit: 0, log: expect.any(String) },
            ],
          }),
        );
      await requireSigned(product, body.data);
      const paper = await printedProof(product, customer, serviceId, body.data.signature.jws);
      for (const { serial } of disks) expect(paper).toContain(serial);
      expect(paper).toMatch(/overwritten with zeros \(overwrite\)/);
    },
    3 * patienceMs,
  );
});

/** How often a text is among bytes. */
function found(bytes: Buffer, text: string): number {
  let times = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) times += 1;
  return times;
}
