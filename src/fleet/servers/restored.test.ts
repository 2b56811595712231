import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newServerProduct, newServers, serverCart } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';
import { settleRestore } from '../../platform/index.ts';
import { jobsOfCustomers } from '../../worker.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({ NETWORK4: '10.82.0.0/24' });
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
/** As one that came back just now and that nobody has released. */
async function restored(): Promise<number> {
  const [row] = await sql<{ id: number }>(
    world.product,
    `insert into restores (made_at, restored_at) values (now(), now() + interval '1 day') returning id`,
  );
  await settleRestore(world.product.ctx, jobsOfCustomers, async () => undefined);
  return row?.id ?? 0;
}

it('what was being done to a server when the backup was made is not done again: it may be somebody’s since', async () => {
  // Its button was pressed, and the system takes its time.
  const productId = await newServerProduct(world.product);
  const { serverIds } = await newServers(world.product, productId, 1);
  const id = serverIds[0] ?? 0;
  const bmc = world.bmcAt('192.0.2.201');
  bmc.failing = { ignoresButton: true };
  const reached = { kind: 'ipmi', address: '192.0.2.201', user: 'root', password: 'factory-1' };
  expect((await staff().patch(`/staff/servers/${id}`, { bmc: reached })).status).toBe(200);
  expect((await staff().post(`/staff/servers/${id}/stop`, { force: false })).status).toBe(200);
  const jobOf = async () =>
    (
      await sql<{ id: number; state: string; stuck_reason: string | null }>(
        world.product,
        `select id, state, stuck_reason from jobs where name = 'fleet.switchServer' and payload @> jsonb_build_object('serverId', $1::int)`,
        id,
      )
    )[0];
  // And one that is to give its BMC our password.
  expect((await staff().post('/staff/enrolment/open', { hours: 8 })).status).toBe(200);
  const told = { mac: '52:54:00:00:2f:01', macs: ['52:54:00:00:2f:01'], serial: 'S-2f', uuid: 'u-2f' };
  const machine = world.installer(await world.starts(told.mac));
  await machine.claim();
  await machine.tells({ ...told, disks: ['D-2f'], bmcAddress: '192.0.2.202' });
  const [arrival] = (await staff().get('/staff/enrolment/arrivals?state=waiting')).body.data.arrivals;
  const accepted = await staff().post(`/staff/enrolment/arrivals/${arrival.id}/accept`, { name: 'ams2-2f' });
  expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
  await until(jobOf, (job) => job?.state === 'running' || job?.state === 'ready');

  const restoreId = await restored();
  expect(await jobOf()).toMatchObject({ state: 'stuck', stuck_reason: expect.stringMatching(/restored/) });
  expect((await staff().get(`/staff/servers/${id}`)).body.data.server.bmc).toMatchObject({ action: null });
  expect((await staff().get(`/staff/enrolment/arrivals/${arrival.id}`)).body.data.arrival).toMatchObject({
    ...{ state: 'waiting', problem: expect.stringMatching(/restored/) },
  });
  expect(await machine.plan()).toEqual({ task: 'wait' });
  // How its BMC was to be reached is kept: no other copy of a password may be left.
  expect(
    await sql(world.product, 'select bmc is not null as kept from server_arrivals where id = $1', arrival.id),
  ).toEqual([{ kept: true }]);
  // Retried days later neither does anything: the server may be another's, and the machine have been accepted anew with another BMC.
  await sql(
    world.product,
    `update server_arrivals set state = 'accepted', server_id = $1, bmc_inside = null where id = $2`,
    ...[id, arrival.id],
  );
  bmc.power = 'off'; // so that nobody waits for its button any more
  const stuck = await sql<{ id: number }>(
    world.product,
    `select id from jobs where state = 'stuck' and name in ('fleet.switchServer', 'fleet.enrol') order by id`,
  );
  expect(stuck).toHaveLength(2);
  for (const job of stuck) expect((await staff().post(`/staff/jobs/${job.id}/retry`)).status).toBe(200);
  await until(
    () =>
      sql<{ state: string }>(
        world.product,
        'select state from jobs where id = any($1)',
        stuck.map((job) => job.id),
      ),
    (jobs) => jobs.every(({ state }) => state === 'done'),
    30_000,
  );
  const steps = `select step from job_steps where job_id = any($1) and step = 'off'`;
  expect(
    await sql(
      world.product,
      steps,
      stuck.map((job) => job.id),
    ),
  ).toEqual([]);
  expect((await staff().get(`/staff/enrolment/arrivals/${arrival.id}`)).body.data.arrival.state).toBe(
    'accepted',
  );
  await sql(world.product, 'update restores set released_at = now() where id = $1', restoreId);
}, 60_000);

it('no server is sold before somebody has compared those in stock with what customers have, and released the restore', async () => {
  const productId = await newServerProduct(world.product);
  const { serverIds } = await newServers(world.product, productId, 2);
  const stock = async () => (await customer.get(`/products/${productId}`)).body.data.product.stock;
  const order = () => customer.post('/cart/checkout/invoice', serverCart(productId));
  const concerns = async () =>
    (await staff().get('/staff/attention')).body.data.concerns.filter(
      ({ kind }: { kind: string }) => kind === 'server.restored',
    );
  expect([await stock(), await concerns()]).toEqual([2, []]);

  const restoreId = await restored();
  expect(await stock()).toBe(0);
  const refused = await order();
  expect([refused.status, refused.body.code]).toEqual([400, 'insufficient_stock']);
  const listed = await concerns();
  for (const id of serverIds) expect(JSON.stringify(listed)).toContain(`${id}`);
  expect(listed[0]?.message).toMatch(
    /is ready as of the backup, and is not sold before the restore is released/,
  );

  expect((await staff().post(`/staff/restores/${restoreId}/release`)).status).toBe(200);
  expect([await stock(), await concerns()]).toEqual([2, []]);
  expect((await order()).status).toBe(200);
  await settled(world.product);
});
