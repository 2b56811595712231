import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../test/rack/stocked.ts';
import { settled, sql } from '../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const overview = async ({ path }: RentedPlayed) =>
  (await customer.get(`${path}/overview`)).body.data.dedicated;
const serverOf = async ({ id }: RentedPlayed) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const became = (server: RentedPlayed, states: RegExp) =>
  until(
    () => serverOf(server),
    ({ state }) => states.test(state),
    60_000,
  );
async function end({ serviceId }: RentedPlayed): Promise<void> {
  const answer = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(answer.status, answer.body.message).toBe(200);
}

it('a server that staff finds out of order under its customer is broken, says what happens next, and is theirs still', async () => {
  const server = await rentPlayed(world, customer);
  const set = await staff().post(`/staff/servers/${server.id}/quarantine`, {
    reason: 'Fan 2 fails, ticket 7',
  });
  expect([set.status, set.body.data?.server]).toMatchObject([
    200,
    { state: 'rented', out_of_order: 'Fan 2 fails, ticket 7', service_id: server.serviceId },
  ]);
  const again = await staff().post(`/staff/servers/${server.id}/quarantine`, { reason: 'Once more' });
  expect([again.status, again.body.code]).toEqual([409, 'conflict']);

  const seen = await overview(server);
  const words = expect.stringMatching(
    /out of order.*Our staff puts it right, or gives the service another one/,
  );
  expect(seen).toMatchObject({ state: 'broken', problem: words });
  expect(JSON.stringify(seen)).not.toContain('Fan 2');
  for (const [name, action] of Object.entries(seen.actions))
    expect([name, action]).toEqual([name, { allowed: false, code: 'action_not_allowed', reason: words }]);
  const restart = await customer.post(`${server.path}/restart`, { force: true });
  expect([restart.status, restart.body.code]).toEqual([409, 'action_not_allowed']);
  expect(server.bmc.power).toBe('on');
  const told = async () =>
    (
      await sql<{ action: string }>(
        world.product,
        `select action from journal where action like 'dedicated.%_order' and organization_id = $1 order by id`,
        customer.organizationId,
      )
    ).map(({ action }) => action);
  await settled(world.product);
  expect(await told()).toEqual(['dedicated.out_of_order']);

  const released = await staff().post(`/staff/servers/${server.id}/release`, {});
  expect(released.body.data.server).toMatchObject({ state: 'rented', out_of_order: null });
  expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
  await settled(world.product);
  expect(await told()).toEqual(['dedicated.out_of_order', 'dedicated.in_order']);
});

it('one that was out of order is wiped when it comes back, and is in quarantine instead of in stock', async () => {
  const server = await rentPlayed(world, customer);
  await staff().post(`/staff/servers/${server.id}/quarantine`, { reason: 'Fan 2 fails' });
  await end(server);
  expect((await overview(server)).state).toBe('returning');
  expect(await became(server, /ready|quarantined|broken/)).toMatchObject({
    ...{ state: 'quarantined', reason: expect.stringContaining('Fan 2 fails') },
    actions: { accept_differences: { allowed: false }, release: { allowed: true } },
  });
  expect(await overview(server)).toMatchObject({ state: 'deleting', problem: null });
  const released = await staff().post(`/staff/servers/${server.id}/release`, {});
  expect(released.body.data.server).toMatchObject({ state: 'waiting', out_of_order: null });
});

it('a service whose disks could not be wiped ends broken, and says which', async () => {
  const server = await rentPlayed(world, customer);
  const [, kept = ''] = server.disks;
  server.does = { keeps: kept };
  await end(server);
  await became(server, /broken/);
  expect(await overview(server)).toMatchObject({
    state: 'broken',
    problem: expect.stringMatching(new RegExp(`${kept}.*staff has to see to it`)),
  });
});

it('a service that has lost its server is broken, and not being made for ever', async () => {
  const server = await rentPlayed(world, customer);
  // As after a restore, when staff finds that the server is somebody else's by now.
  await sql(
    world.product,
    `update servers set state = 'quarantined', service_id = null, reason = 'somebody’s since' where id = $1`,
    server.id,
  );
  const seen = await overview(server);
  expect(seen).toMatchObject({
    ...{ state: 'broken', power: { state: null } },
    problem: expect.stringMatching(/Our staff gives the service another one/),
  });
  expect(seen.actions.start).toMatchObject({ allowed: false, reason: seen.problem });
  const asked = await customer.post(`${server.path}/start`, {});
  expect([asked.status, asked.body.code]).toEqual([409, 'action_not_allowed']);
});
