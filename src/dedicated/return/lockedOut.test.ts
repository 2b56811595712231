import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
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
const became = (id: number, states: RegExp, timeoutMs = 90_000) =>
  until(
    () => serverOf(id),
    ({ state }) => states.test(state),
    timeoutMs,
  );
const concerns = async (kind: string) =>
  (await staff().get('/staff/attention')).body.data.concerns.filter(
    (each: { kind: string }) => each.kind === kind,
  );
const waitsFor = async ({ serviceId }: RentedPlayed) => {
  const [job] = await sql<{ error_message: string | null }>(
    world.product,
    `select error_message from jobs where name = 'dedicated.return' and payload ->> 'serviceId' = $1::text`,
    serviceId,
  );
  return job?.error_message ?? '';
};
const passwordOf = ({ bmc }: RentedPlayed, name = 'root') =>
  bmc.accounts.find((each) => each.name === name)?.password;
const kept = async ({ id }: RentedPlayed) => (await bmcConnection(world.product.ctx, id))?.password;

/** A server whose customer, root there, gave our account at its BMC another password, and is theirs no more. */
async function lockedOut(): Promise<RentedPlayed> {
  const server = await rentPlayed(world, customer);
  const own = server.bmc.accounts.find(({ name }) => name === 'root');
  if (own) own.password = 'theirs-alone-1';
  const ended = await customer.post(`/dashboard/services/${server.serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  await until(
    () => waitsFor(server),
    (said) => said.includes('does not let us in'),
    60_000,
  );
  return server;
}

it('a server that comes back and whose BMC does not let us in gives it our account from inside, once somebody has started it anew', async () => {
  const server = await lockedOut();
  const { id, bmc, told, plans } = server;
  const before = told.length;
  expect(await serverOf(id)).toMatchObject({ state: 'returning' });
  expect(await concerns('server.locked_out')).toMatchObject([
    { message: expect.stringContaining('Start it anew by its button') },
  ]);
  // The same is not told twice.
  await sql(
    world.product,
    `update server_bmcs set asked_at = asked_at - interval '1 hour' where server_id = $1`,
    id,
  );
  await world.product.periodic('fleet.askBmcs');
  await until(
    async () => (await serverOf(id)).bmc.problem,
    (problem) => problem !== null,
    60_000,
  );
  expect(await concerns('server.bmc_lost')).toEqual([]);

  // Somebody else on the network says that it is this server: what they are told opens nothing, whatever they say.
  const stranger = world.installer(await world.starts(server.mac, '127.0.0.99'));
  await stranger.claim();
  await stranger.tells({ mac: server.mac, disks: server.disks });
  const plan = await until(
    () => stranger.plan(),
    ({ task }) => task === 'bmc',
  );
  expect(plan.bmc).toEqual({ user: 'root', password: expect.stringMatching(/^[A-Za-z2-9]{16}$/) });
  await stranger.call('POST', 'report', { kind: 'bmc', address: null, problem: null });
  expect((await stranger.plan()).task).toBe('wait');

  // A finger on its button.
  bmc.power = 'on';
  server.reboot();
  expect(await became(id, /ready|quarantined|broken/)).toMatchObject({ state: 'ready', reason: null });
  expect(passwordOf(server)).not.toBe(plan.bmc.password);
  expect(passwordOf(server)).not.toBe('theirs-alone-1');
  expect(await kept(server)).toBe(passwordOf(server));
  // It was switched off, and started once more to be proved: the first start is believed nothing but that it opens its BMC.
  expect(told.slice(before).filter((what) => what === 'installer').length).toBeGreaterThan(1);
  expect(plans.at(-1)).toMatchObject({ task: 'wipe' });
  expect(server.wipes).toBe(2);
  expect((await customer.get(`${server.path}/erasure`)).status).toBe(200);
  expect(await concerns('server.locked_out')).toEqual([]);
}, 240_000);

it('what keeps it from that is told, and one that nobody starts anew is set aside after three days', async () => {
  const server = await lockedOut();
  const { id, mac } = server;
  const machine = world.installer(await world.starts(mac));
  await machine.claim();
  await machine.tells({ mac, disks: server.disks });
  await until(
    () => machine.plan(),
    ({ task }) => task === 'bmc',
  );
  const problem = 'all of its accounts are taken: remove one';
  await machine.call('POST', 'report', { kind: 'bmc', address: null, problem });
  expect((await machine.plan()).task).toBe('wait');
  await until(
    () => waitsFor(server),
    (said) => said.includes(problem),
    90_000,
  );
  expect(await serverOf(id)).toMatchObject({ state: 'returning' });
  world.product.clock.travel(73 * 3_600_000);
  // Whoever is root there lets us in for a moment, and out again.
  await sql(world.product, `update server_assignments set locked_out_at = null where server_id = $1`, id);
  expect(await became(id, /ready|quarantined|broken/)).toMatchObject({
    ...{
      state: 'quarantined',
      service_id: null,
      reason: expect.stringMatching(/does not let us in.*three days/),
    },
  });
  expect(server.wipes).toBe(1);
}, 240_000);
