import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import {
  deliveredTo,
  orderDedicated,
  type RentedPlayed,
  rentPlayed,
  stockPlayed,
} from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

const gib = 2 ** 30;
/** Images by their name, and how long their disks are. */
const disks = { cloud: 3 * gib, huge: 2_000 * gib, 'for-machines': 3 * gib };
const shaOf = (slug: string) => Buffer.from(slug).toString('hex').padEnd(64, '0');

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
  for (const [slug, bytes] of Object.entries(disks)) {
    const source = { kind: 'download', url: `https://images.example.com/${slug}`, sha256: shaOf(slug) };
    const { status, body } = await world.product.staff.post('/staff/images', {
      ...{ slug, name: slug, version: '1', source: { ...source, guest: 'cloud-init' } },
      ...{ min_memory_mib: 512, min_disk_gib: slug === 'cloud' ? 100 : 1 },
      ...(slug !== 'for-machines' && { for_servers: true }),
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    // As if it was downloaded already.
    const folder = join(world.product.ctx.config.imagesDir ?? '', `disk-${shaOf(slug)}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'disk.raw.zst'), 'packed');
    const description = { sha256: '5a'.repeat(32), disk: { sha256: '6b'.repeat(32), bytes } };
    await writeFile(join(folder, 'disk.json'), JSON.stringify(description));
  }
  await settled(world.product);
});
afterAll(() => world.product.stop());

async function offer(productId: number): Promise<void> {
  const choices = ['tiny', ...Object.keys(disks)].map((value) => ({ value, label: value, price_minor: 0 }));
  await sql(
    world.product,
    `update product_options set choices = $2::jsonb where product_id = $1 and key = 'option6'`,
    ...[productId, JSON.stringify(choices)],
  );
}

async function rented(...kinds: Parameters<typeof rentPlayed>[2][]): Promise<RentedPlayed> {
  const server = await rentPlayed(world, customer, ...kinds);
  await offer(server.productId);
  return server;
}

const wanted = { os: 'cloud', password: 'Good-Pass-1', confirm: 'metal1.example.com' };

/** The action that came of it, once it has ended. */
async function reinstalled(server: RentedPlayed, body: object) {
  const answer = await customer.post(`${server.path}/reinstall`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return until(
    async () => (await customer.get(`${server.path}/history/${answer.body.data.action.id}`)).body.data.action,
    ({ status }) => status === 'success' || status === 'error',
    90_000,
  );
}

describe('the image of a disk that staff offers for servers', () => {
  it('goes to one disk, with who the server is and its customer’s user data; the other stays', async () => {
    const server = await rented();
    const userData = '#cloud-config\nruncmd: [[echo, "$(reboot)"]]';
    expect(await reinstalled(server, { ...wanted, user_data: userData })).toMatchObject({
      status: 'success',
    });
    const plan = server.plans.at(-1);
    expect(plan).toMatchObject({
      ...{ task: 'install', wipe: [server.disks[0]] },
      layout: { kind: 'single', serials: [server.disks[0]] },
      image: { sha256: '5a'.repeat(32), disk: { sha256: '6b'.repeat(32), bytes: disks.cloud } },
    });
    const { seed } = plan.image.disk;
    expect(seed['user-data']).toBe(userData);
    expect(JSON.parse(seed['meta-data'])).toMatchObject({ 'local-hostname': 'metal1.example.com' });
    expect(JSON.parse(seed['network-config']).ethernets.eth0).toMatchObject({
      ...{ match: { macaddress: server.mac }, addresses: [expect.stringContaining(server.ip)] },
    });
    expect((await customer.get(`${server.path}/overview`)).body.data.dedicated.os.slug).toBe('cloud');
    // Another installation is another start of it.
    expect(await reinstalled(server, wanted)).toMatchObject({ status: 'success' });
    expect(server.plans.at(-1).image.disk.seed['meta-data']).not.toBe(seed['meta-data']);
  }, 120_000);

  it('is ordered and delivered as any system', async () => {
    const { productId, first } = await stockPlayed(world);
    await offer(productId);
    const { serviceId } = await orderDedicated(customer, productId, { option6: 'cloud' });
    expect(await deliveredTo(customer, serviceId)).toMatchObject({ status: 'active' });
    // Whoever had it before may have written to any disk.
    expect(first.plans.at(-1)).toMatchObject({
      wipe: first.disks,
      layout: { kind: 'single', serials: [first.disks[0]] },
    });
  }, 120_000);

  it('is refused on a mirror, on a disk that is too small, and where it is for machines alone', async () => {
    const server = await rented([
      { kind: 'nvme', bytes: 960_197_124_096 },
      { kind: 'ssd', bytes: 64_000_000_000 },
    ]);
    const [, small = ''] = server.disks;
    const refused = async (change: object) => {
      const { status, body } = await customer.post(`${server.path}/reinstall`, { ...wanted, ...change });
      return [status, body.code, body.details?.[0]?.field, body.details?.[0]?.message];
    };
    for (const serials of [undefined, server.disks])
      expect(await refused({ disks: { layout: 'raid1', serials } })).toEqual([
        ...[400, 'invalid_request', 'disks.layout'],
        expect.stringContaining('cloud: it comes as the image of a disk, which goes to one disk'),
      ]);
    expect(await refused({ disks: { layout: 'single', serials: [small] } })).toEqual([
      ...[400, 'invalid_request', 'disks.serials'],
      `cloud needs a disk of 100 GiB, and ${small} is smaller`,
    ]);
    expect(await refused({ os: 'for-machines' })).toEqual([
      ...[400, 'invalid_configuration', 'os', expect.stringContaining('there is no system for-machines')],
    ]);
    expect(server.wipes).toBe(1);
  }, 120_000);

  it('that is longer than the disk, whatever was said of it, is not begun', async () => {
    const server = await rented();
    const action = await reinstalled(server, { ...wanted, os: 'huge' });
    expect(action).toMatchObject({ status: 'error' });
    expect(action.error.message).toContain('Nothing was changed on its disks');
    expect(server.wipes).toBe(1);
    const [failed] = await sql<{ failure: string }>(
      world.product,
      `select failure from server_assignments where server_id = $1 and failure_code = 'image_unusable'`,
      server.id,
    );
    expect(failed?.failure).toMatch(/^the image takes 2147.5 GB, and the disk \S+ has 960.2$/);
  }, 120_000);
});

describe('whether an image is for servers', () => {
  const read = async (slug: string) =>
    (await world.product.staff.get(`/staff/images/${slug}`)).body.data.image.for_servers;

  it('staff says of one that is downloaded', async () => {
    const { staff } = world.product;
    expect([await read('cloud'), await read('for-machines')]).toEqual([true, false]);
    expect((await staff.patch('/staff/images/for-machines', { for_servers: true })).status).toBe(200);
    expect(await read('for-machines')).toBe(true);
    expect((await staff.patch('/staff/images/for-machines', { name: 'Another' })).status).toBe(200);
    expect(await read('for-machines')).toBe(true);
    expect((await staff.patch('/staff/images/for-machines', { for_servers: false })).status).toBe(200);
    expect(await read('for-machines')).toBe(false);
  });

  it('follows of one that we build from what it is', async () => {
    const { staff } = world.product;
    expect(await read('tiny')).toBe(true);
    expect((await staff.patch('/staff/images/tiny', { for_servers: true })).status).toBe(200);
    const { status, body } = await staff.patch('/staff/images/tiny', { for_servers: false });
    expect([status, body.details]).toEqual([
      400,
      [{ field: 'for_servers', message: expect.stringContaining('is true of this image') }],
    ]);
    expect(await read('tiny')).toBe(true);
  });
});
