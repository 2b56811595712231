import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps, vpsCart } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

// Machines of 10 GiB on a node that promises 60: one organization's copies may hold 30 of them.
const capacity = { cpuCores: 100, memoryMib: 100_000, diskGib: 60, acceleration: 'none' as const };
let product: TestProduct;
let owner: Person;
/** In another organization of the owner's. */
let also: Person;
let other: Person;
let first: number;
let second: number;
let theirs: number;

beforeAll(async () => {
  product = await startTestProduct({ simulator: { capacity } });
  owner = await newCustomer(product, { creditMinor: 50_000 });
  other = await newCustomer(product, { creditMinor: 50_000 });
  first = (await runningVps(product, owner)).serviceId;
  also = await newCustomer(product, { creditMinor: 50_000 });
  await sql(
    product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', '2020-01-01')`,
    ...[also.organizationId, owner.userId],
  );
  second = (await runningVps(product, also)).serviceId;
  theirs = (await runningVps(product, other)).serviceId;
});
afterAll(() => product.stop());

const path = (id: number) => `/dashboard/service/${id}/vps/snapshots`;
const keep = (id: number, name: string, who = owner) => who.post(path(id), { name });
const node = async () => (await product.staff.get('/staff/nodes/1')).body.data.node;
const order = () => product.customer.post('/cart/checkout/invoice', vpsCart(product.demo));

async function kept(id: number, name: string, who = owner): Promise<void> {
  const answer = await keep(id, name, who);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
}

/** Node and placements agree about what they hold. */
async function expectBalanced(): Promise<void> {
  const [sums] = await sql(
    product,
    `select n.disk_gib_taken - sum(p.disk_gib + p.copies_gib)::int as disk, n.copies_gib - sum(p.copies_gib)::int as copies
     from nodes n join placements p on p.node_id = n.id group by n.id`,
  );
  expect(sums).toEqual({ disk: 0, copies: 0 });
}

describe('room for copies', () => {
  it('is held for all that a copy may come to take, and given back with it', async () => {
    expect(await node()).toMatchObject({ taken: { disk_gib: 30 }, copies_gib: 0, free: { disk_gib: 30 } });
    await kept(first, 'one');
    expect(await node()).toMatchObject({ taken: { disk_gib: 40 }, copies_gib: 10, free: { disk_gib: 20 } });
    await owner.delete(`${path(first)}/one`);
    await settled(product);
    expect(await node()).toMatchObject({ taken: { disk_gib: 30 }, copies_gib: 0 });
    await expectBalanced();
  });

  it('is at most half of a node for one owner, over all machines and organizations', async () => {
    await sql(product, 'update nodes set disk_gib = 80');
    for (const [id, name, who] of [
      [first, 'a', owner],
      [first, 'b', owner],
      [second, 'c', also],
    ] as const)
      await kept(id, name, who);
    const answers = await Promise.all([keep(first, 'd'), keep(second, 'e', also)]);
    await settled(product);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.body).toMatchObject({
      code: 'no_space',
      message: /your organizations .* 40 of the 40 GiB/,
    });
    expect(await node()).toMatchObject({ copies_gib: 40, free: { disk_gib: 10 } });
    await kept(theirs, 'mine', other); // there is room for others still
    await expectBalanced();
  });

  it('that is all gone refuses copies and orders, and changes nothing; what is deleted makes room', async () => {
    expect((await node()).free.disk_gib).toBe(0);
    const before = await node();
    const refused = await keep(theirs, 'more', other);
    expect([refused.status, refused.body.code]).toEqual([409, 'no_space']);
    expect(refused.body.message).toContain('it may come to take 10 GiB');
    expect((await other.get(path(theirs))).body.data.snapshots).toHaveLength(1);
    expect((await order()).body.code).toBe('insufficient_stock');
    expect(await node()).toEqual({ ...before, last_seen_at: expect.anything() });
    await owner.delete(`${path(first)}/a`);
    await settled(product);
    expect((await order()).status).toBe(200);
    await expectBalanced();
  });

  it('is wanted by nightly backups too; without it the machine runs on and its history says why', async () => {
    const auto_backup = { enabled: true, hour: 0, keep: 1 };
    await other.patch(`/dashboard/service/${theirs}/vps/settings`, { auto_backup });
    expect((await node()).free.disk_gib).toBe(0);
    await product.periodic('vps.backups');
    const [action] = (await other.get(`/dashboard/service/${theirs}/vps/history`)).body.data.actions;
    expect(action).toMatchObject({ command: 'create_backup', status: 'error', error: { code: 'no_space' } });
    const { vps } = (await other.get(`/dashboard/service/${theirs}/vps/overview`)).body.data;
    expect(vps).toMatchObject({ state: 'running', locked: false });
    expect((await other.get(path(theirs))).body.data.snapshots).toHaveLength(1);
    await product.periodic('vps.backups'); // once a day, not once a minute
    const { total } = (await other.get(`/dashboard/service/${theirs}/vps/history`)).body.data;
    await other.delete(`${path(theirs)}/mine`);
    await settled(product);
    product.clock.travel(24 * 3_600_000);
    await product.periodic('vps.backups');
    await settled(product);
    expect((await other.get(path(theirs))).body.data.snapshots).toMatchObject([
      { kind: 'backup', state: 'ready' },
    ]);
    expect(total).toBeGreaterThan(0);
    await expectBalanced();
  });

  it('of snapshots goes with the disk that a reinstall replaces', async () => {
    const before = (await node()).copies_gib;
    const held = (await also.get(path(second))).body.data.snapshots.length;
    expect(held).toBeGreaterThan(0);
    await also.post(`/dashboard/service/${second}/vps/reinstall`, { os: 'tiny', password: 'Canary-Pass-2' });
    await until(
      async () => (await also.get(path(second))).body.data.snapshots.length,
      (count) => count === 0,
    );
    await settled(product);
    expect((await node()).copies_gib).toBe(before - 10 * held);
    await expectBalanced();
  });
});
