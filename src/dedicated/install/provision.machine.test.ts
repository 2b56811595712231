import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Person } from '../../../test/people.ts';
import type { TestProduct } from '../../../test/product.ts';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRacked, type Racked, type Selling, sellRacked } from '../../../test/rack/racked.ts';
import { orderDedicated } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`Delivering a real server is not tested: ${skip}`);

const serials = ['NVME-0071', 'NVME-0072'];
const mark = 'kept-by-its-customer-4711';
const patienceMs = 540_000;

describe.skipIf(skip !== null)('a dedicated server that was paid', () => {
  let dir: string;
  let racked: Racked;
  let product: TestProduct;
  let customer: Person;
  let productId: number;
  let ssh: Selling['ssh'];
  let delivered = { serviceId: 0, address: '' };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-dedicated-'));
    racked = await openRacked(dir, {
      ...{ number: 7, tree: rackTree, images: installer ?? '' },
      disks: serials.map((serial) => ({ serial, kind: 'nvme', mib: 192 })),
    });
    // What somebody left.
    for (const serial of serials) await racked.server.leaveBehind(serial, 0x5a, '90M', '2M');
    ({ product, customer, productId, ssh } = await sellRacked(dir, racked));
  });
  afterAll(async () => {
    await product?.stop();
    await racked?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('is started by its BMC, proved on its serial line, wiped, installed with RAID1, and lets its customer in', async () => {
    await expect
      .poll(
        async () => (await product.staff.get('/staff/enrolment')).body.data.enrolment.networks[0]?.is_served,
        { timeout: 60_000 },
      )
      .toBe(true);
    const began = Date.now();
    const { serviceId } = await orderDedicated(customer, productId);
    const read = async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service;
    await expect
      .poll(
        async () => {
          const works = await sql(product, 'select state, step, failure from server_assignments');
          return `${(await read()).provisioning_state} ${JSON.stringify(works)}`;
        },
        { timeout: patienceMs, interval: 500 },
      )
      .toMatch(/^(done|failed)/);
    const service = await read();
    const [work] = await sql(
      product,
      `select state, step, failure, tries, plan, tree_bytes, extract(epoch from ended_at - opened_at)::int as seconds,
         (select jsonb_object_agg(key, value -> 'method') from jsonb_each(erasures)) as methods from server_assignments`,
    );
    console.log(`paid → SSH in ${Math.round((Date.now() - began) / 1000)} s: ${JSON.stringify(work)}`);
    expect(service, JSON.stringify(work)).toMatchObject({ status: 'active', provisioning_state: 'done' });
    expect(work).toMatchObject({
      ...{ state: 'done', tries: 1, failure: null, plan: null },
      methods: Object.fromEntries(serials.map((serial) => [serial, 'format-user-data'])),
    });

    expect(await ssh(service.primary_ip, 'hostname')).toBe('metal1.example.com\n');
    expect(await ssh(service.primary_ip, 'cat /proc/mdstat')).toContain('[UU]');
    expect(await ssh(service.primary_ip, 'cat /etc/resolv.conf')).toContain('nameserver 9.9.9.9\n');
    // It came from its disks: it is told to start them whenever it asks, and installs itself no second time.
    const [counted] = await sql(product, 'select count(*)::int as starts from server_starts');
    expect(counted).toEqual({ starts: 0 });
    expect((await racked.bmc.server()).runs).toBe(true);
    delivered = { serviceId, address: service.primary_ip };
  }, 600_000);

  it('shows its serial line through us: what is typed reaches its own port, and what it says there is seen', async () => {
    const { body } = await customer.get(`/dashboard/service/${delivered.serviceId}/dedicated/console`);
    const path = new URL(body.data.wss_url).pathname;
    const viewer = new WebSocket(product.url.replace('http', 'ws') + path);
    let seen = '';
    viewer.on('message', (data) => {
      seen += String(data);
    });
    await new Promise((resolve, reject) => viewer.once('open', resolve).once('error', reject));
    viewer.send(Buffer.from('\r'));
    await expect.poll(() => seen, { timeout: 30_000 }).toMatch(/metal1\S* login: /);
    viewer.send(Buffer.from('~.typed-by-hand\r'));
    await expect.poll(() => seen, { timeout: 30_000 }).toContain('~.typed-by-hand');
    await ssh(delivered.address, 'echo said-by-the-server > /dev/ttyS0');
    await expect.poll(() => seen, { timeout: 30_000 }).toContain('said-by-the-server');
    // Staff takes it over, and the customer is told.
    const [{ id: serverId = 0 } = {}] = await sql<{ id: number }>(product, 'select id from servers');
    const over = new Promise<number>((resolve) => viewer.once('close', resolve));
    const staffs = await product.staff.post(`/staff/servers/${serverId}/console`, { reason: 'To look' });
    const other = new WebSocket(
      product.url.replace('http', 'ws') + new URL(staffs.body.data.wss_url).pathname,
    );
    expect(await over).toBe(4001);
    other.close();
  }, 120_000);

  const asked = async (what: string, body: object) => {
    const began = Date.now();
    const path = `/dashboard/service/${delivered.serviceId}/dedicated`;
    const answer = await customer.post(`${path}/${what}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const read = async () =>
      (await customer.get(`${path}/history/${answer.body.data.action.id}`)).body.data.action;
    await expect
      .poll(async () => JSON.stringify(await read()), { timeout: patienceMs, interval: 500 })
      .toMatch(/"status":"(success|error)"/);
    console.log(`${what} ${JSON.stringify(body)} in ${Math.round((Date.now() - began) / 1000)} s`);
    expect(await read()).toMatchObject({ status: 'success' });
  };

  // These take as long as the order itself.
  const isLong = process.env.INNKEEPER_TEST_LONG === 'on';

  it.runIf(isLong)(
    'is taken into the rescue system at its own address, with the key of its customer, and no disk is mounted',
    async () => {
      const { address } = delivered;
      await ssh(address, `echo ${mark} > /root/mine && sync`);
      await asked('rescue', { enabled: true });
      expect(await ssh(address, 'cat /proc/mounts; ls /run')).not.toMatch(/\/dev\/(nvme|md)|innkeeper/);
      expect(await ssh(address, 'ip -4 -o addr show scope global | wc -l')).toBe('1\n');
      const stays = await ssh(
        address,
        'mdadm --assemble --run /dev/md0 /dev/nvme0n1p3 /dev/nvme1n1p3 2>/dev/null; mount -t ext4 -o ro /dev/md0 /mnt && cat /mnt/root/mine; umount /mnt; mdadm --stop /dev/md0 2>/dev/null',
      );
      expect(stays).toBe(`${mark}\n`);
      await asked('rescue', { enabled: false });
      await expect
        .poll(() => ssh(address, 'cat /root/mine').catch(() => ''), { timeout: patienceMs, interval: 1_000 })
        .toBe(`${mark}\n`);
    },
    600_000,
  );

  it.runIf(isLong)(
    'is reinstalled on its second disk: that one starts, and what is on the first stays',
    async () => {
      const { address } = delivered;
      await ssh(address, `echo ${mark} > /root/mine && sync`);
      await asked('reinstall', {
        ...{ os: 'tiny', confirm: 'metal1.example.com', hostname: 'metal2.example.com' },
        disks: { layout: 'single', serials: serials.slice(1) },
      });
      expect(await ssh(address, 'hostname')).toBe('metal2.example.com\n');
      expect(await ssh(address, 'ls /root/mine 2>&1; cat /proc/mdstat 2>/dev/null')).not.toContain('[UU]');
      expect(await ssh(address, 'grep " / " /proc/mounts')).toMatch(/^\/dev\/nvme/);
      // The half of the mirror that nobody named is as it was.
      const other = `for each in /dev/nvme0n1p3 /dev/nvme1n1p3; do grep -q "^$each / " /proc/mounts || tr -d '\\000' < $each | grep -c '${mark}'; done`;
      // Without what is empty, or an emulated processor reads it for minutes.
      expect(Number(await ssh(address, other, 300_000))).toBeGreaterThan(0);
    },
    1_200_000,
  );
});
