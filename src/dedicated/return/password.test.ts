import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { deliveredTo, orderDedicated, stockPlayed } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';
import { bmcConnection } from '../../fleet/servers/life.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;

async function stocked() {
  const { productId, first } = await stockPlayed(world);
  const passwordOf = (name: string) => first.bmc.accounts.find((each) => each.name === name)?.password;
  const kept = async () => (await bmcConnection(world.product.ctx, first.id))?.password;
  return Object.assign(first, { productId, passwordOf, kept });
}

const delivered = (serviceId: number) => deliveredTo(customer, serviceId);
async function cameBack(serviceId: number, id: number) {
  const ended = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  return until(
    () => serverOf(id),
    ({ state }) => /ready|broken|quarantined/.test(state),
    60_000,
  );
}

it('a BMC has another password of ours when its server is handed over and when it came back, and nobody else signs in then', async () => {
  const server = await stocked();
  const { serviceId } = await orderDedicated(customer, server.productId);
  expect((await delivered(serviceId)).status).toBe('active');
  const first = server.passwordOf('root');
  expect([first, first]).toEqual([await server.kept(), expect.stringMatching(/^[A-Za-z2-9]{16}$/)]);

  // Whoever is root there makes an account of their own.
  const theirs = { id: '4', name: 'theirs', password: 'their-pass-1', access: 'administrator' as const };
  server.bmc.accounts.push({ ...theirs, isEnabled: true });
  // And one of our name.
  server.bmc.accounts.push({ ...theirs, id: '5', name: 'root', isEnabled: true });
  expect(await cameBack(serviceId, server.id)).toMatchObject({ state: 'ready', reason: null });
  const second = server.passwordOf('root');
  expect(second).toBe(await server.kept());
  expect(new Set(['factory-1', first, second]).size).toBe(3);
  expect(server.bmc.accounts.filter(({ access, isEnabled }) => access !== 'none' || isEnabled)).toMatchObject(
    [{ id: '2', name: 'root', password: second }],
  );
  const [told] = await sql<{ data: { accounts: string[] } }>(
    world.product,
    `select data from journal where action = 'server.wiped' and subject_id = $1`,
    server.id,
  );
  expect(told?.data.accounts.toSorted()).toEqual(['guest', 'root', 'theirs']);
}, 120_000);

it('a server whose BMC does not take a new password is not handed over, and one that lets others in is not in stock again', async () => {
  const cuts = await stocked();
  cuts.bmc.failing = { cutsPasswordsAt: 12 };
  const order = await orderDedicated(customer, cuts.productId);
  expect(await delivered(order.serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
  expect(await serverOf(cuts.id)).toMatchObject({
    state: 'quarantined',
    reason: expect.stringMatching(/password/),
  });
  expect(cuts.plans).toEqual([]);

  const open = await stocked();
  const { serviceId } = await orderDedicated(customer, open.productId);
  expect((await delivered(serviceId)).status).toBe('active');
  open.bmc.failing = { letsInWithoutPassword: true };
  expect(await cameBack(serviceId, open.id)).toMatchObject({
    ...{ state: 'quarantined', service_id: null, reason: expect.stringMatching(/without a password/) },
  });
}, 120_000);

it('a process that dies between setting a password and keeping it, and a restore from before, lose no BMC', async () => {
  const server = await stocked();
  const { serviceId } = await orderDedicated(customer, server.productId);
  expect((await delivered(serviceId)).status).toBe('active');
  const set = server.passwordOf('root');
  // The database knows nothing of it.
  const before = (problem: string | null) =>
    sql(
      world.product,
      `update server_bmcs set password_no = 0, password = $2, asked_at = null, problem = $3,
         problem_since = case when $3::text is null then null else now() end where server_id = $1`,
      server.id,
      world.product.ctx.seal.close('factory-1', `bmc of server ${server.id}`),
      problem,
    );
  const asked = async () => {
    await sql(world.product, 'update server_bmcs set asked_at = null where server_id = $1', server.id);
    await world.product.periodic('fleet.askBmcs');
    return until(
      () => serverOf(server.id),
      ({ bmc }) => bmc.asked_at !== null,
      60_000,
    );
  };
  // The one that was set and not kept is found by itself, whatever was wrong with its BMC before.
  await before('the BMC did not answer in time');
  expect((await asked()).bmc).toMatchObject({ power: 'on', problem: null });
  expect(await server.kept()).toBe(set);

  // Of those that it had since a backup none is, until it is known that there was a restore.
  expect(await cameBack(serviceId, server.id)).toMatchObject({ state: 'ready' });
  const later = server.passwordOf('root');
  expect(later).not.toBe(set);
  await before(null);
  const refused = (await asked()).bmc.problem;
  expect(refused).toMatch(/let us in/);
  await sql(
    world.product,
    'insert into restores (made_at, restored_at, settled_at, released_at) select asked_at, asked_at, asked_at, asked_at from server_bmcs where server_id = $1',
    server.id,
  );
  await before(refused);
  expect((await asked()).bmc).toMatchObject({ power: 'off', problem: null });
  expect(await server.kept()).toBe(later);
}, 120_000);
