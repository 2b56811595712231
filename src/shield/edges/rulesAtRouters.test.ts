/** Rules of customers at routers in front, which have little room: who finds none, or whom routers fail, waits and is told later. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import {
  dropSsh,
  newTenant,
  packet,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';
import { type RoutersInMemory, routersInMemory } from './routers.testbed.ts';

let product: ShieldedProduct;
let routers: RoutersInMemory;
let edgePath: string;
let first: Tenant;
let second: Tenant;

beforeAll(async () => {
  routers = routersInMemory();
  product = await startShielded({ drivers: { routers } });
  const { edges } = (await product.staff.get('/staff/shield/edges?kind=routers')).body.data;
  edgePath = `/staff/shield/edges/${edges[0].id}`;
  const { body } = await product.staff.get('/staff/address-pools');
  for (const { network } of body.data.address_pools)
    await product.staff.post('/staff/shield/prefixes', { edge_id: edges[0].id, network });
  // In the order in which routers are told of them.
  [first, second] = [await newTenant(product), await newTenant(product)];
});
afterAll(() => product.stop());
beforeEach(async () => {
  routers.refusal = null;
  await room(0);
  for (const { body, ...tenant } of await Promise.all([first, second].map(rulesOf)))
    for (const { id } of body.data.rules) await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
});

const rulesOf = async (tenant: Tenant) => ({ ...tenant, ...(await tenant.get(rulesPath)) });
const room = (routes: number) => product.staff.patch(edgePath, { rule_routes: routes });
const noted = async ({ address }: Tenant) =>
  (await product.staff.get(`${edgePath}/rules?limit=100`)).body.data.rules.find(
    (each: { address: string }) => each.address === address,
  );
const isTold = ({ address }: Tenant) => !routers.table.pass(packet(address));
/** A rule that takes so many routes; its id. */
async function deny(tenant: Tenant, routes = 1): Promise<number> {
  const ports = Array.from({ length: routes }, (_, nth) => nth);
  const ids = [];
  for (const nth of ports) {
    const { body } = await tenant.post(
      rulesPath,
      dropSsh(tenant.address, nth === 0 ? {} : { order: 200 + nth, source: `192.0.2.${nth}` }),
    );
    ids.push(body.data.rule_id);
  }
  return ids[0];
}
const enforcedOf = async (tenant: Tenant, id: number) =>
  (await tenant.get(`${rulesPath}/${id}`)).body.data.rule.enforced;

it('that found no room are told as soon as there is some, and until then owner and staff read why not', async () => {
  await room(1);
  const id = await deny(first);
  await until(async () => isTold(first), Boolean);
  const waiting = await deny(second);
  const why = await until(
    () => noted(second),
    (each) => each !== undefined,
  );
  expect(why).toMatchObject({ routes: 0, error: expect.stringContaining('no room') });
  expect(isTold(second)).toBe(false);
  const shown = await until(
    () => enforcedOf(second, waiting),
    ({ active }) => active,
  );
  expect(shown).toMatchObject({ active: true, error: expect.stringContaining('routers') });
  expect(await enforcedOf(first, id)).toMatchObject({ active: true, error: null });
  await first.patch(`${rulesPath}/${id}/disable`);
  await until(async () => isTold(second), Boolean);
  await until(
    () => enforcedOf(second, waiting),
    ({ active, error }) => active && error === null,
  );
  expect(await noted(second)).toMatchObject({ routes: 1, error: null });
});

it('whose telling failed are told once routers take them again, without being changed', async () => {
  await room(10);
  routers.refusal = 'gobgpd at unix:/run/gobgpd.sock: deadline exceeded';
  const id = await deny(first);
  await until(
    () => noted(first),
    (each) => each?.error?.includes('deadline'),
  );
  const shown = await until(
    () => enforcedOf(first, id),
    ({ active }) => active,
  );
  expect(shown.error).toContain('again');
  routers.refusal = null;
  product.clock.travel(60_000);
  await until(async () => isTold(first), Boolean);
  await until(
    () => enforcedOf(first, id),
    ({ error }) => error === null,
  );
});

it('give way to what stands against attacks while a router breaks off, and are told again after a while', async () => {
  await room(10);
  const ids = [await deny(first, 3), await deny(second, 3)] as const;
  const routes = async () => ((await noted(first))?.routes ?? 0) + ((await noted(second))?.routes ?? 0);
  await until(routes, (told) => told === 6);
  const [peer] = routers.peers;
  if (peer === undefined) throw new Error('there is no router');
  peer.refusals += 1;
  await until(routes, (told) => told === 3);
  expect([isTold(first), isTold(second)]).toEqual([true, false]);
  const why = await noted(second);
  expect(why).toMatchObject({ routes: 0, error: expect.stringContaining('a router has broken off') });
  expect(await enforcedOf(second, ids[1])).toMatchObject({ active: true, error: expect.any(String) });
  expect(product.edge.pass(packet(second.address))).toBe(false);
  // It does so again: less is told.
  peer.refusals += 1;
  await until(routes, (told) => told === 0);
  expect(product.edge.pass(packet(first.address))).toBe(false);
  product.clock.travel(10 * 60_000);
  await until(routes, (told) => told === 6);
  expect([isTold(first), isTold(second)]).toEqual([true, true]);
  await until(
    () => enforcedOf(second, ids[1]),
    ({ active, error }) => active && error === null,
  );
});

it('never take more than there is for them, whoever comes later, and give back what is too much', async () => {
  await room(3);
  await deny(second, 2);
  await until(
    () => noted(second),
    (each) => each?.routes === 2,
  );
  await deny(first, 2);
  await until(
    () => noted(first),
    (each) => each?.error?.includes('no room') === true,
  );
  expect([isTold(first), isTold(second)]).toEqual([false, true]);
  await room(4);
  await until(async () => isTold(first), Boolean);
  await room(2);
  await until(
    async () => isTold(second),
    (told) => !told,
  );
  expect(isTold(first)).toBe(true);
  expect(await noted(second)).toMatchObject({ routes: 0, error: expect.stringContaining('no room') });
});

it('are told no more when their address is given back', async () => {
  await room(10);
  const leaving = await newTenant(product);
  await deny(leaving);
  await until(async () => isTold(leaving), Boolean);
  await leaving.post(`/dashboard/services/${leaving.serviceId}/cancel`, { type: 'immediate' });
  await until(
    async () => isTold(leaving),
    (told) => !told,
    10_000,
  );
  expect(await noted(leaving)).toBeUndefined();
});

it('are compared by one look at what routers hold', async () => {
  await room(10);
  await deny(first);
  await until(async () => isTold(first), Boolean);
  await until(
    () => noted(first),
    (each) => each?.error === null,
  );
  const { peers, held } = { ...routers.asked };
  await until(
    async () => routers.asked.peers,
    (now) => now >= peers + 3,
    20_000,
  );
  expect(routers.asked.held - held).toBeLessThanOrEqual(routers.asked.peers - peers + 1);
});
