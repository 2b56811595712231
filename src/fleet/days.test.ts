/** When nodes and pools are full, from how they filled day by day. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderVps } from '../../test/orders.ts';
import { newCustomer } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
let person: Awaited<ReturnType<typeof newCustomer>>;
const capacity = { cpuCores: 64, memoryMib: 100 * 1_024, diskGib: 5_000, acceleration: 'none' as const };

beforeAll(async () => {
  product = await startTestProduct({ simulator: { capacity } });
  person = await newCustomer(product, { creditMinor: 1_000_000 });
  await product.periodic('fleet.noteDays');
});
afterAll(() => product.stop());

/** A day on which so many machines of 1 GB are ordered. */
async function aDay(machines: number): Promise<void> {
  product.clock.travel(86_400_000);
  for (let one = 0; one < machines; one += 1) await orderVps(product, person);
  await product.periodic('fleet.noteDays');
}
const node = async () => (await product.staff.get('/staff/nodes')).body.data.nodes[0];
const pool = async () =>
  (await product.staff.get('/staff/address-pools')).body.data.address_pools.find(
    ({ family }: { family: number }) => family === 4,
  );
const low = async () => {
  product.clock.travel(15_000);
  return (await product.staff.get('/staff/attention')).body.data.house.low;
};

it('nothing is foretold of fewer than two weeks, nor of what does not grow', async () => {
  for (let day = 0; day < 12; day += 1) await aDay(day % 3 === 0 ? 3 : 0);
  expect((await node()).full_in_days).toEqual({ memory: null, disk: null });
  expect((await pool()).full_in_days).toBeNull();
  expect(await low()).toEqual([]);
});

it('then a node and a pool say when they are full, with the growth of most weeks and not of one day', async () => {
  for (let day = 12; day < 18; day += 1) await aDay(day % 3 === 0 ? 3 : 0);
  const { free, full_in_days: fullIn } = await node();
  // Three machines every third day are one a day.
  expect(fullIn.memory).toBeGreaterThan(70);
  expect(Math.abs(fullIn.memory - free.memory_mib / 1_024)).toBeLessThan(free.memory_mib / 1_024 / 5);
  expect((await pool()).full_in_days).toBeGreaterThan(0);
  expect((await low()).filter(({ kind }: { kind: string }) => kind === 'node')).toEqual([]);
  await aDay(20);
  const { free: less, full_in_days: then } = await node();
  // The customer who takes twenty at once takes room, and is no reason to expect twenty more tomorrow.
  expect(then.memory).toBeGreaterThan((less.memory_mib / 1_024) * 0.8);
});

it('staff is told on the first page of what is full within a month, sooner than of what is only used', async () => {
  const { taken } = await node();
  await sql(
    product,
    'update nodes set memory_reserve_mib = memory_mib - $1::int',
    taken.memory_mib + 9 * 1_024,
  );
  const [first] = await low();
  expect(first).toMatchObject({ kind: 'node', what: 'memory', name: 'node-1', free: 9 * 1_024 });
  expect(first.full_in_days).toBeGreaterThanOrEqual(7);
  expect(first.full_in_days).toBeLessThanOrEqual(10);
  expect(first.full_in_days).toBe((await node()).full_in_days.memory);
  // It takes no new machines: nothing goes on as it did.
  await product.staff.patch(`/staff/nodes/${first.id}`, { state: 'draining' });
  expect((await node()).full_in_days).toEqual({ memory: null, disk: null });
  expect((await low()).filter(({ kind }: { kind: string }) => kind === 'node')).toEqual([]);
  await product.staff.patch(`/staff/nodes/${first.id}`, { state: 'active' });
  expect((await node()).full_in_days.memory).toBe(first.full_in_days);
});

it('what stood still for weeks is not full one day, and a day is forgotten after a quarter', async () => {
  for (let day = 0; day < 28; day += 1) await aDay(0);
  expect((await node()).full_in_days).toEqual({ memory: null, disk: null });
  product.clock.travel(80 * 86_400_000);
  await product.periodic('fleet.noteDays');
  const days = () => sql<{ day: string }>(product, 'select distinct day::text from fleet_days order by 1');
  const today = product.clock.now().getTime();
  for (const { day } of await days()) expect(Date.parse(day)).toBeGreaterThan(today - 93 * 86_400_000);
  expect((await days()).length).toBeLessThan(30);
  // What a clock noted that was ahead does not count as today.
  await sql(product, `update fleet_days set day = day + 400 where day = (select max(day) from fleet_days)`);
  await product.periodic('fleet.noteDays');
  expect((await days()).at(-1)?.day).toBe(product.clock.now().toISOString().slice(0, 10));
});
