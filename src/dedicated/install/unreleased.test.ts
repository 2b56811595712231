import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newDedicated, orderDedicated, stockServer } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';
import { playServer } from '../../demo/rack/played.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const delivered = (id: number) =>
  until(
    () => service(id),
    ({ status }) => status === 'active',
    60_000,
  );

let made = 0;
/** A server in stock, and the product that it is sold as. */
async function stocked() {
  made += 1;
  const model = `U-${made}`;
  const productId = await newDedicated(world.product, model);
  const mac = `52:54:00:2c:${String(made).padStart(2, '0')}:01`;
  const address = `198.51.100.${made}`;
  const disks = [`${model}-A`];
  const bmc = world.bmcAt(address);
  bmc.power = 'off';
  const id = await stockServer(world.product, model, {
    ...{ name: model, mac, bmc: { address, user: 'root', password: 'factory-1' } },
    disks: disks.map((serial) => ({ serial, bytes: 960_197_124_096, kind: 'nvme' as const })),
  });
  return Object.assign(playServer(world, { mac, disks, bmc }), { id, mac, productId });
}

/** An order that nobody has paid, which holds the server. */
async function ordered(productId: number) {
  const options = { option4: 1, option6: 'tiny', domain: 'metal1.example.com', password: 'Good-Pass-1' };
  const { status, body } = await customer.post('/cart/checkout/invoice', {
    products: [{ id: productId, cycle: 'monthly', type: 'Hosting', options }],
  });
  expect(status, body.message).toBe(200);
  return { invoiceId: body.data.invoice_id as number, serviceId: body.data.service_ids[0] as number };
}
const pay = (invoiceId: number) =>
  customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });

/** All that there is is of a backup that came back just now, and nobody has released that. */
async function restored(): Promise<void> {
  await sql(
    world.product,
    `insert into restores (made_at, restored_at, settled_at) select now(), max(state_since), now() from servers`,
  );
}
const release = () => sql(world.product, 'update restores set released_at = now()');
afterEach(release);

interface Job {
  id: number;
  state: string;
  error_code: string | null;
  error_message: string | null;
}
async function jobOf(name: string, serviceId: number): Promise<Job | undefined> {
  const text = `select id, state, error_code, error_message from jobs where name = $1 and payload @> jsonb_build_object('serviceId', $2::bigint)`;
  return (await sql<Job>(world.product, text, name, serviceId))[0];
}
const waits = (name: string, serviceId: number) =>
  until(
    () => jobOf(name, serviceId),
    (job) => job?.state === 'ready' && job.error_code === 'restore_held',
    30_000,
  );

it('an order that was unpaid when the backup was made is installed nowhere before staff has compared: another customer may have its server, and have it off', async () => {
  const server = await stocked();
  const { invoiceId, serviceId } = await ordered(server.productId);
  await restored();
  expect((await pay(invoiceId)).status).toBe(200);
  const job = await waits('dedicated.provision', serviceId);
  expect(job?.error_message).toMatch(/once the restore is released/);
  expect([server.bmc.power, server.bmc.starts, server.told]).toEqual(['off', [], []]);
  expect(await world.starts(server.mac)).toContain('sanboot');

  await release();
  await delivered(serviceId);
  expect(server.wipes).toBe(1);
}, 120_000);

it('staff says meanwhile that a server is another customer’s: the order has failed, and the server is left as it is', async () => {
  const server = await stocked();
  const { invoiceId, serviceId } = await ordered(server.productId);
  await restored();
  await pay(invoiceId);
  await waits('dedicated.provision', serviceId);
  server.bmc.power = 'on';
  const { status, body } = await staff().post(`/staff/servers/${server.id}/quarantine`, {
    reason: 'Another customer has it',
  });
  expect([status, body.data?.server.state]).toEqual([200, 'quarantined']);
  await until(
    () => service(serviceId),
    ({ provisioning_state: state }) => state === 'failed',
    30_000,
  );
  expect(await serverOf(server.id)).toMatchObject({ state: 'quarantined', service_id: null });
  expect([server.bmc.power, server.wipes]).toEqual(['on', 0]);
}, 120_000);

it('a server that an unpaid order gives back before staff has compared is not in stock: nobody would look for it there', async () => {
  const server = await stocked();
  const { invoiceId } = await ordered(server.productId);
  await restored();
  const { status } = await customer.post(`/dashboard/invoices/${invoiceId}/cancel`);
  expect(status).toBe(200);
  const after = await until(
    () => serverOf(server.id),
    ({ state }) => state !== 'held',
    30_000,
  );
  expect(after).toMatchObject({
    ...{ state: 'quarantined', service_id: null, reason: expect.stringMatching(/may be somebody’s/) },
  });
});

it('a server of a service that ends before staff has compared is not wiped, also where it is off', async () => {
  const server = await stocked();
  const { serviceId } = await orderDedicated(customer, server.productId);
  await delivered(serviceId);
  await restored();
  server.bmc.power = 'off';
  const ended = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  await waits('dedicated.return', serviceId);
  expect([server.bmc.power, server.wipes, (await serverOf(server.id)).state]).toEqual(['off', 1, 'rented']);

  await release();
  await until(
    () => serverOf(server.id),
    ({ state }) => state === 'ready',
    60_000,
  );
  expect(server.wipes).toBe(2);
}, 120_000);

/** Its job stands still since a restore, right after these steps, and its server is another service's by now, whose customer runs it. */
async function leftBehind(
  server: Awaited<ReturnType<typeof stocked>>,
  name: string,
  serviceId: number,
  ...done: string[]
) {
  const [job] = await until(
    () =>
      sql<{ id: number }>(
        world.product,
        `update jobs set state = 'stuck', worker = null, finished_at = now(), held_at = now(), stuck_reason = 'a test' where name = $1 and state = 'ready'
           and payload @> jsonb_build_object('serviceId', $2::bigint) and error_message like 'the server is on its way%' returning id`,
        name,
        serviceId,
      ),
    (rows) => rows.length > 0,
    60_000,
  );
  const id = job?.id ?? 0;
  await sql(world.product, 'delete from job_steps where job_id = $1 and step <> all($2)', id, done);
  await sql(
    world.product,
    `update server_assignments set state = 'cancelled', ended_at = now(), plan = null where server_id = $1 and state in ('open', 'working')`,
    server.id,
  );
  await sql(
    world.product,
    `update servers set state = 'rented', service_id = $2 where id = $1`,
    server.id,
    9_000 + made,
  );
  server.bmc.power = 'on';
  expect((await staff().post(`/staff/jobs/${id}/retry`)).status).toBe(200);
  return until(
    async () =>
      (
        await sql<Job>(
          world.product,
          'select id, state, error_code, error_message from jobs where id = $1',
          id,
        )
      )[0],
    (each) => each !== undefined && !['ready', 'running'].includes(each.state),
    60_000,
  );
}

it('a delivery that a restore held has failed when it is retried and the server is another customer’s, whom nobody is told to switch off', async () => {
  const server = await stocked();
  server.does = { startsNothing: true };
  const { serviceId } = await orderDedicated(customer, server.productId);
  const job = await leftBehind(server, 'dedicated.provision', serviceId, 'open', 'pick');
  expect(job).toMatchObject({ state: 'failed', error_code: 'server_taken_away' });
  expect(await service(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
  expect([server.bmc.power, (await serverOf(server.id)).state]).toEqual(['on', 'rented']);
}, 120_000);

it('a return that a restore held is over when it is retried and the server is another customer’s', async () => {
  const server = await stocked();
  const { serviceId } = await orderDedicated(customer, server.productId);
  await delivered(serviceId);
  server.does = { startsNothing: true };
  await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  const job = await leftBehind(server, 'dedicated.return', serviceId, 'look', 'open');
  expect(job?.state).toBe('done');
  expect([server.bmc.power, (await serverOf(server.id)).state]).toEqual(['on', 'rented']);
}, 120_000);
