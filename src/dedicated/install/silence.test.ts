import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newDedicated, orderDedicated, stockServer } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';
import { type PlayedServer, playServer } from '../../demo/rack/played.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 1_500);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const concerned = async () =>
  (await staff().get('/staff/attention')).body.data.concerns.filter(({ kind }: { kind: string }) =>
    ['rack.silent', 'server.bmc_lost'].includes(kind),
  );

let made = 0;
/** So many servers in one rack, the first of which an order gets. */
async function stocked(count: number) {
  made += 1;
  const model = `N-${made}`;
  const productId = await newDedicated(world.product, model);
  const servers: (PlayedServer & { id: number })[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const mac = `52:54:00:3f:${String(made).padStart(2, '0')}:0${nth}`;
    const address = `198.51.100.${made * 10 + nth}`;
    const disks = [`${model}-${nth}-A`];
    const bmc = world.bmcAt(address);
    bmc.power = 'off';
    const id = await stockServer(world.product, model, {
      ...{ name: `${model}-${nth}`, mac, bmc: { address, user: 'root', password: 'factory-1' } },
      disks: disks.map((serial) => ({ serial, bytes: 960_197_124_096, kind: 'nvme' as const })),
    });
    servers.push(Object.assign(playServer(world, { mac, disks, bmc }), { id }));
  }
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('too few');
  const { rack_id: rack } = await serverOf(first.id);
  for (const [at, { id }] of servers.entries())
    if (at > 0)
      expect((await staff().patch(`/staff/servers/${id}`, { rack_id: rack, unit: at + 1 })).status).toBe(200);
  const silence = (are: boolean, which = servers) => {
    for (const { bmc } of which) bmc.failing = are ? { silent: 'before' } : {};
  };
  return { productId, first, second, silence };
}

const waits = (serviceId: number) =>
  until(
    () =>
      sql<{ state: string; error_code: string | null }>(
        world.product,
        `select state, error_code from jobs where name = 'dedicated.provision' and payload @> jsonb_build_object('serviceId', $1::bigint)`,
        serviceId,
      ),
    ([job]) => job?.error_code === 'bmc_silent',
    60_000,
  );

async function later(minutes: number): Promise<void> {
  world.product.clock.travel(minutes * 60_000);
}

/** All BMCs are asked, a turn of the sign of life. */
async function asked(): Promise<void> {
  await world.product.periodic('fleet.askBmcs');
  await until(
    () =>
      sql(
        world.product,
        `select 1 from jobs where name = 'fleet.askBmc' and state in ('ready', 'running') union all select 1 from server_bmcs where asked_at is null`,
      ),
    (open) => open.length === 0,
    60_000,
  );
}

const ended = (serviceId: number) =>
  until(
    () => service(serviceId),
    ({ provisioning_state: state }) => state === 'done' || state === 'failed',
    60_000,
  );

it('while no BMC answers it is the network: whatever is under way waits, however long, and staff is told once', async () => {
  const { productId, first, second, silence } = await stocked(3);
  await asked();
  silence(true);
  const { serviceId } = await orderDedicated(customer, productId);
  await waits(serviceId);
  for (const minutes of [6, 6, 60, 120]) {
    await later(minutes);
    await asked();
    await waits(serviceId);
  }
  expect(await serverOf(first.id)).toMatchObject({ state: 'held', service_id: serviceId });
  expect((await serverOf(second.id)).state).toBe('ready');
  const rack = (await serverOf(first.id)).rack_id;
  expect(await concerned()).toMatchObject([
    {
      kind: 'rack.silent',
      subject: { type: 'rack', id: rack },
      message: expect.stringMatching(/none of its 3 BMCs/),
    },
  ]);

  silence(false);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect((await serverOf(first.id)).state).toBe('rented');
  await later(6);
  await asked();
  expect(await concerned()).toEqual([]);
}, 240_000);

it('of one that is silent while others of its rack answer the server is out of order, and another one is taken', async () => {
  const { productId, first, second, silence } = await stocked(2);
  silence(true, [first]);
  const { serviceId } = await orderDedicated(customer, productId);
  await waits(serviceId);
  await asked();
  await later(6);
  await asked();
  expect((await serverOf(first.id)).state).toBe('held');
  await later(6);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect((await serverOf(first.id)).state).toBe('quarantined');
  expect((await serverOf(second.id)).state).toBe('rented');
  expect(await concerned()).toMatchObject([{ kind: 'server.bmc_lost', subject: { id: first.id } }]);
  silence(false);
  await later(6);
  await asked();
}, 240_000);

it('one that nobody can be compared with has an hour', async () => {
  const { productId, first, silence } = await stocked(2);
  await sql(world.product, 'update server_bmcs set asked_at = null, problem = null, is_silent = false'); // nobody was asked yet
  silence(true, [first]);
  const { serviceId } = await orderDedicated(customer, productId);
  await waits(serviceId);
  await later(40);
  await waits(serviceId);
  await settledOnce(serviceId);
  expect((await serverOf(first.id)).state).toBe('held');
  await later(25);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect((await serverOf(first.id)).state).toBe('quarantined');
}, 240_000);

/** Its job has come again since, and waits on. */
async function settledOnce(serviceId: number): Promise<void> {
  const before = world.product.clock.now();
  await until(
    () =>
      sql<{ run_at: Date }>(
        world.product,
        `select run_at from jobs where name = 'dedicated.provision' and payload @> jsonb_build_object('serviceId', $1::bigint)`,
        serviceId,
      ),
    ([job]) => job !== undefined && new Date(job.run_at) > before,
    60_000,
  );
}
