import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { orderVps, vpsCart } from '../../test/orders.ts';
import { newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settledContents, sql } from '../../test/sql.ts';
import { registerNode, registerRouter, requireOwnName } from './nodes.ts';

const changes = watchChanges();

let product: TestProduct;
let id: number;
const capacity = { cpuCores: 10, memoryMib: 10_240, diskGib: 500, acceleration: 'none' as const };

beforeAll(async () => {
  product = await startTestProduct({ simulator: { capacity } });
  id = (await product.staff.get('/staff/nodes')).body.data.nodes[0].id;
});
afterAll(() => product.stop());

const node = async (of = id) => (await product.staff.get(`/staff/nodes/${of}`)).body.data.node;
/** A host as it starts again and again: with the DATA_DIR that the node of its name has. */
async function host(name: string, location = 'AMS') {
  const [known] = await sql<{ id: string }>(
    product,
    'select data_dir_id as id from nodes where name = $1',
    name,
  );
  return { name, location, dataDirId: known?.id ?? randomUUID() };
}
const change = (body: object) => product.staff.patch(`/staff/nodes/${id}`, body);
const order = () => product.customer.post('/cart/checkout/invoice', vpsCart(product.demo));

describe('a node', () => {
  it('says what it has, promises, gave away and has left', async () => {
    await orderVps(product, product.customer, { option1: 2, option2: 20, option3: 3 });
    expect(await node()).toMatchObject({
      name: 'node-1',
      state: 'active',
      reachable: true,
      accepts_machines: true,
      capacity: { cpu_cores: 10, memory_mib: 10_240, disk_gib: 500 },
      cpu_overcommit: 8,
      promised: { cpu_cores: 80, memory_mib: 10_240, disk_gib: 500 },
      taken: { cpu_cores: 3, memory_mib: 2_048, disk_gib: 20 },
      free: { cpu_cores: 77, memory_mib: 8_192, disk_gib: 480 },
      machines: 1,
    });
  });

  it('promises what staff decides, also after it started again', async () => {
    const answer = await change({ cpu_overcommit: 1.5, memory_reserve_mib: 1_024, disk_reserve_gib: 100 });
    expect(answer.body.data.node.promised).toEqual({ cpu_cores: 15, memory_mib: 9_216, disk_gib: 400 });
    const again = { ...capacity, cpuCores: 20 };
    expect(await registerNode(product.ctx, await host('node-1'), again)).toBe(id);
    expect(await node()).toMatchObject({
      cpu_overcommit: 1.5,
      promised: { cpu_cores: 30, memory_mib: 9_216 },
    });
  });

  it('takes nothing more while it is over what it may promise, and keeps what it has', async () => {
    await change({ cpu_overcommit: 1, memory_reserve_mib: 9_000 });
    expect((await node()).free).toMatchObject({ memory_mib: 0 });
    const before = await settledContents(product);
    expect((await order()).body).toMatchObject({ code: 'insufficient_stock', error: 'Bad Request' });
    expect(await contents(product)).toEqual(before);
    await change({ memory_reserve_mib: 0 });
    expect((await order()).status).toBe(200);
  });

  it.each(['draining', 'down'])('takes no new machines while it is %s', async (state) => {
    expect((await change({ state })).body.data.node).toMatchObject({ state, accepts_machines: false });
    expect((await order()).body.code).toBe('insufficient_stock');
    await change({ state: 'active' });
    expect((await order()).status).toBe(200);
  });

  it('tells each change to the journal, with who made it', async () => {
    const rows = await sql<{ data: object; user_id: number }>(
      product,
      `select data, user_id from journal where action = 'node.updated' and subject_id = ${id} order by id limit 1`,
    );
    expect(rows[0]?.data).toEqual({
      name: 'node-1',
      change: { cpu_overcommit: 1.5, memory_reserve_mib: 1_024, disk_reserve_gib: 100 },
    });
    expect(rows[0]?.user_id).toEqual(expect.any(Number));
  });

  it('refuses bad input and changes nothing', async () => {
    const before = await settledContents(product);
    const bad = [
      { state: 'gone' },
      { cpu_overcommit: 0.5 },
      { cpu_overcommit: 65 },
      { cpu_overcommit: '2' },
      { memory_reserve_mib: -1 },
      { disk_reserve_gib: 1.5 },
      { disk_reserve_gib: 2 ** 31 },
      { cpu_cores: 5 },
    ];
    for (const body of bad) expect((await change(body)).status, JSON.stringify(body)).toBe(400);
    expect((await product.staff.patch('/staff/nodes/4242', { state: 'down' })).status).toBe(404);
    expect(await contents(product)).toEqual(before);
  });

  it('is the business of operators and administrators', async () => {
    const operator = await newStaff(product, 'operator');
    expect((await operator.get('/staff/nodes')).status).toBe(200);
    for (const role of ['billing', 'support'] as const)
      expect((await (await newStaff(product, role)).get('/staff/nodes')).status).toBe(403);
    expect((await product.customer.get('/staff/nodes')).status).toBe(403);
  });
});

describe('a silent node', () => {
  const addNode = async (name: string) =>
    registerNode(product.ctx, await host(name), { ...capacity, memoryMib: 1_000_000 });

  it('gets no machines until it is heard of again; the others are not affected', async () => {
    const other = await addNode('node-2');
    await orderVps(product, product.customer);
    expect((await node(other)).machines).toBe(1); // it has the most room
    product.clock.travel(61_000);
    await product.periodic('fleet.watchNodes');
    expect(await node(other)).toMatchObject({ reachable: false, accepts_machines: false, state: 'active' });
    expect(await node()).toMatchObject({ reachable: true, accepts_machines: true });
    await orderVps(product, product.customer);
    expect((await node(other)).machines).toBe(1);

    await addNode('node-2');
    await orderVps(product, product.customer);
    expect(await node(other)).toMatchObject({ reachable: true, machines: 2 });
    await product.periodic('fleet.watchNodes');
    expect((await node(other)).reachable).toBe(true);
  });

  it('is none whose worker is about to say that it lives', async () => {
    const client = new pg.Client({ connectionString: product.databaseUrl });
    await client.connect();
    await client.query('begin; select from workers for update');
    product.clock.travel(61_000);
    // Many turns of the product at once, each of which says so first.
    const turns = ['jobs.purgeDone', 'fleet.watchNodes'].map((name) => product.periodic(name));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.query('commit');
    await client.end();
    await Promise.all(turns);
    const rows = await sql(
      product,
      `select 1 from journal where action = 'node.silent' and subject_id = $1`,
      id,
    );
    expect(rows).toEqual([]);
    expect(await node()).toMatchObject({ reachable: true });
  });

  it('is told of once', async () => {
    product.clock.travel(3_600_000);
    for (const _ of [1, 2, 3]) await product.periodic('fleet.watchNodes');
    const rows = await sql(product, `select 1 from journal where action = 'node.silent'`);
    expect(rows).toHaveLength(2); // here and in the first of these tests
    expect((await node()).reachable).toBe(true);
  });

  it('is noticed also when it was heard of by a clock that was ahead, and one that lives goes on', async () => {
    const other = await addNode('node-3');
    await sql(product, `update nodes set seen_at = $1::timestamptz + interval '1 year'`, product.clock.now());
    await product.periodic('fleet.watchNodes');
    product.clock.travel(61_000);
    await product.periodic('fleet.watchNodes');
    expect(await node(other)).toMatchObject({ reachable: false });
    expect(await node()).toMatchObject({ reachable: true });
    const { last_seen_at } = await node();
    expect(Date.parse(last_seen_at)).toBeLessThanOrEqual(product.clock.now().getTime());
  });
});

describe('the list of nodes', () => {
  it('goes by page and by cursor, and filters by location', async () => {
    for (const name of ['x-1', 'x-2', 'x-3'])
      await registerNode(product.ctx, await host(name, 'XXX'), capacity);
    const first = (await product.staff.get('/staff/nodes?location=XXX&limit=2')).body.data;
    expect(first).toMatchObject({ total: 3, pages: 2, entries: 2 });
    const second = await product.staff.get(`/staff/nodes?location=XXX&limit=2&cursor=${first.next_cursor}`);
    expect(second.body.data.nodes.map((each: { name: string }) => each.name)).toEqual(['x-3']);
    expect(second.body.data.next_cursor).toBeNull();
    expect((await product.staff.get('/staff/nodes?cursor=nonsense')).body.code).toBe('invalid_cursor');
  });
});

describe('a node whose host is replaced', () => {
  const replace = (which: number, as = product.staff) => as.post(`/staff/nodes/${which}/replace`);

  it('is refused to another DATA_DIR until staff says so, which it can once the node is silent', async () => {
    const known = await host('old-1', 'ZZZ');
    const node = await registerNode(product.ctx, known, capacity);
    const other = { ...known, dataDirId: randomUUID() };
    await expect(registerNode(product.ctx, other, capacity)).rejects.toThrow('NODE_NAME of its own');
    await expect(requireOwnName(product.ctx, other)).rejects.toThrow('replace-node --name old-1');
    expect(await registerNode(product.ctx, { ...known, location: 'YYY' }, capacity)).toBe(node);

    const early = await replace(node);
    expect([early.status, early.body.code]).toEqual([409, 'conflict']);
    expect(early.body.message).toContain('Stop it, and try again');
    await expect(registerNode(product.ctx, other, capacity)).rejects.toThrow('another host');

    product.clock.travel(61_000);
    expect((await replace(node, await newStaff(product, 'support'))).status).toBe(403);
    expect((await replace(999_999)).status).toBe(404);
    expect((await replace(node)).status).toBe(200);
    expect(await registerNode(product.ctx, other, capacity)).toBe(node);
    await expect(registerNode(product.ctx, known, capacity)).rejects.toThrow('another host');
    const told = await sql(
      product,
      `select 1 from journal where action = 'node.replaced' and subject_id = $1`,
      node,
    );
    expect(told).toHaveLength(1);
  });

  it('is whoever starts when no other host can reach the database', async () => {
    const known = await host('alone-1', 'ZZZ');
    const node = await registerNode(product.ctx, known, capacity);
    const moved = { ...known, dataDirId: randomUUID(), isAlone: true };
    expect(await registerNode(product.ctx, moved, capacity)).toBe(node);
  });
});

describe('a host that only filters', () => {
  it('has nothing to promise, and is no node that has machines or is another host', async () => {
    const known = await host('router-1', 'RRR');
    const router = await registerRouter(product.ctx, known);
    expect(await node(router)).toMatchObject({ runs_machines: false, accepts_machines: false });
    expect((await product.staff.patch(`/staff/nodes/${router}`, { cpu_overcommit: 64 })).status).toBe(200);
    expect((await node(router)).promised).toEqual({ cpu_cores: 0, memory_mib: 0, disk_gib: 0 });
    const other = { ...known, dataDirId: randomUUID() };
    await expect(registerRouter(product.ctx, other)).rejects.toThrow('NODE_NAME of its own');
    expect((await node()).machines).toBeGreaterThan(0);
    await expect(registerRouter(product.ctx, await host('node-1'))).rejects.toThrow('machines or orders');
    expect(await node()).toMatchObject({ runs_machines: true });
    expect(await registerNode(product.ctx, known, capacity)).toBe(router);
    expect(await node(router)).toMatchObject({ runs_machines: true, capacity: { memory_mib: 10_240 } });
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['replaceNode']));
