import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { orderVps, runningVps, vpsCart } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { contents, settledContents, settled as settledDatabase, sql } from '../../test/sql.ts';
import { HypervisorError } from '../drivers/hypervisor/index.ts';

const changes = watchChanges();

let product: TestProduct;
/** Why the hypervisor fails for an image; none: it does not. */
const failures = new Map<string, HypervisorError>();

beforeAll(async () => {
  product = await startTestProduct({
    simulator: { failure: (call, id) => (call === 'ensureImage' ? (failures.get(id) ?? null) : null) },
  });
});
afterAll(() => product.stop());

const sha256 = 'a'.repeat(64);
const download = {
  kind: 'download',
  url: 'https://images.example.com/disk.qcow2',
  sha256,
  guest: 'cloud-init',
};
const newImage = (slug: string, change: object = {}) => ({
  ...{ slug, name: 'Alpine', version: '3', min_memory_mib: 128, min_disk_gib: 1 },
  ...{ source: { kind: 'build', recipe: 'tiny' }, ...change },
});
const add = (slug: string, change: object = {}) =>
  product.staff.post('/staff/images', newImage(slug, change));
const read = async (slug: string) => (await product.staff.get(`/staff/images/${slug}`)).body.data?.image;
const settled = (slug: string) =>
  until(
    () => read(slug),
    (image) => image?.state === 'ready' || image?.state === 'failed',
  );
const told = async (slug: string) => {
  const rows = await sql<{ action: string }>(
    product,
    `select action from journal where subject_type = 'image' and data->>'slug' = $1 order by id`,
    slug,
  );
  return rows.map((row) => row.action);
};

describe('an order', () => {
  const order = (customer: Person, change: Record<string, unknown> = {}) =>
    customer.post('/cart/checkout/invoice', vpsCart(product.demo, change));

  it('of a machine that its image does not fit into is refused before anything is reserved', async () => {
    const customer = await newCustomer(product);
    await product.staff.patch('/staff/images/tiny', { min_disk_gib: 11 });
    await settledDatabase(product);
    const before = await settledContents(product);
    for (const path of ['/cart/quote', '/cart/checkout/invoice']) {
      const { status, body } = await customer.post(path, vpsCart(product.demo));
      expect([status, body.code]).toEqual([400, 'invalid_configuration']);
      const message = 'Tiny Linux needs 11 GiB of storage';
      expect(body.details).toEqual([{ field: 'products[0].options.option6', message }]);
    }
    expect(await contents(product)).toEqual(before);
    expect((await order(customer, { option2: 11 })).status).toBe(200);
    await product.staff.patch('/staff/images/tiny', { min_disk_gib: 1 });
  });

  it('of an image that is taken off the offer is refused; what was ordered before is still made', async () => {
    const customer = await newCustomer(product, { creditMinor: 1_000 });
    const before = await orderVps(product, customer);
    await product.staff.patch('/staff/images/tiny', { active: false });
    const { status, body } = await order(customer);
    expect([status, body.details?.[0].message]).toEqual([400, 'tiny is not offered at the moment']);
    await customer.post(`/dashboard/invoices/${before.invoiceId}/pay`, { method: 'credit' });
    await until(
      () => customer.get(`/dashboard/services/${before.serviceId}`),
      (answer) => answer.body.data.service.status === 'active',
    );
    await product.staff.patch('/staff/images/tiny', { active: true });
    expect((await order(customer)).status).toBe(200);
  });
});

describe('an image', () => {
  it('is built from a recipe or downloaded as soon as staff adds it', async () => {
    const answer = await add('alpine');
    expect(answer.body.data.image).toMatchObject({ state: 'preparing', active: true, error: null });
    expect(await settled('alpine')).toMatchObject({
      state: 'ready',
      prepared_at: expect.any(String),
      progress: null,
    });
    await add('foreign', { source: download });
    expect((await settled('foreign')).source).toEqual(download);
    expect(await told('alpine')).toEqual(['image.created', 'image.preparing', 'image.prepared']);
  });

  it('that is refused for good says why, and can be prepared again', async () => {
    const message = 'the image hostile is not a plain disk';
    failures.set('hostile', new HypervisorError('image_rejected', message, { permanent: true }));
    await add('hostile', { source: download });
    expect(await settled('hostile')).toMatchObject({ state: 'failed', error: message, prepared_at: null });
    const jobs = (await product.staff.get('/staff/jobs')).body.data.jobs;
    expect(jobs[0]).toMatchObject({
      name: 'fleet.prepareImage',
      error_code: 'image_rejected',
      payload: { slug: 'hostile' },
    });
    failures.delete('hostile');
    const again = await product.staff.post('/staff/images/hostile/prepare');
    expect(again.body.data.image).toMatchObject({ state: 'preparing', error: null });
    expect(await settled('hostile')).toMatchObject({ state: 'ready' });
    expect(await told('hostile')).toEqual([
      ...['image.created', 'image.preparing', 'image.failed'],
      ...['image.preparing', 'image.prepared'],
    ]);
  });

  it('is prepared once at a time', async () => {
    await add('twice');
    await settled('twice');
    await sql(product, `update images set state = 'preparing' where slug = 'twice'`);
    const count = `select count(*)::int as n from jobs where payload->>'slug' = 'twice'`;
    await product.staff.post('/staff/images/twice/prepare');
    expect((await sql<{ n: number }>(product, count))[0]?.n).toBe(1);
  });

  it('that is ready stays as it is when it is to be prepared', async () => {
    await add('done');
    const ready = await settled('done');
    product.clock.travel(60_000);
    const answer = await product.staff.post('/staff/images/done/prepare');
    expect([answer.status, answer.body.data.image]).toEqual([200, ready]);
    await settledDatabase(product);
    expect(await read('done')).toEqual(ready);
    expect(await told('done')).toEqual(['image.created', 'image.preparing', 'image.prepared']);
  });

  it('changes its words and whether it is offered, not its source', async () => {
    await add('words');
    await settled('words');
    const change = { name: 'Words', version: '4', min_memory_mib: 256, min_disk_gib: 2, active: false };
    const answer = await product.staff.patch('/staff/images/words', change);
    expect(answer.body.data.image).toMatchObject(change);
    expect((await product.staff.patch('/staff/images/words', { source: download })).status).toBe(400);
    const stale = await product.staff.patch('/staff/images/words', { name: 'x' }, { 'if-match': '"old"' });
    expect(stale.status).toBe(412);
  });

  it('stays while a machine was made from it, and goes when there is none', async () => {
    await runningVps(product, product.customer);
    const kept = await product.staff.delete('/staff/images/tiny');
    expect(kept.body).toMatchObject({ code: 'conflict', message: expect.stringContaining('active') });
    await add('gone');
    await settled('gone');
    expect((await product.staff.delete('/staff/images/gone')).status).toBe(200);
    expect(await read('gone')).toBeUndefined();
    expect((await product.staff.delete('/staff/images/gone')).status).toBe(404);
  });

  it('of a slug that is known is refused, also at the same moment', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => add('once')));
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409, 409]);
    await settled('once');
  });

  it('refuses bad input and changes nothing', async () => {
    const before = await contents(product);
    const source = (change: object) => ({ source: { ...download, ...change } });
    const bad: [string, object?][] = [
      ['../etc'],
      ['A'],
      ['a b'],
      [''],
      ['x', { name: '' }],
      ['x', { name: 'two\nlines' }],
      ['x', { min_memory_mib: 0 }],
      ['x', { min_disk_gib: 1.5 }],
      ['x', { source: { kind: 'build', recipe: '../x' } }],
      ['x', { source: { kind: 'copy', path: '/etc/shadow' } }],
      ['x', { source: { ...download, recipe: 'tiny' } }],
      ['x', source({ sha256: 'short' })],
      ['x', source({ guest: 'windows' })],
      ['x', source({ url: 'http://images.example.com/x' })],
      ['x', source({ url: 'file:///etc/shadow' })],
      ['x', source({ url: 'https://user:secret@example.com/x' })],
      ['x', source({ url: 'https://' })],
    ];
    for (const [slug, change] of bad)
      expect((await add(slug, change)).status, JSON.stringify([slug, change])).toBe(400);
    expect(await contents(product)).toEqual(before);
  });

  it('is listed with the others by page', async () => {
    const { data } = (await product.staff.get('/staff/images?limit=2')).body;
    expect(data.entries).toBe(2);
    const next = (await product.staff.get(`/staff/images?limit=2&cursor=${data.next_cursor}`)).body.data;
    expect(next.images[0].slug > data.images[1].slug).toBe(true);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['prepareOperatingSystemImage']));
