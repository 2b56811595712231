import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newDedicated, orderDedicated, stockServer } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
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
const quarantine = (id: number) =>
  staff().post(`/staff/servers/${id}/quarantine`, { reason: 'It hangs there' });

let made = 0;
/** Servers in stock, and the product that they are sold as. */
async function stocked(count = 1) {
  made += 1;
  const model = `Q-${made}`;
  const productId = await newDedicated(world.product, model);
  const servers = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const mac = `52:54:00:0f:${String(made).padStart(2, '0')}:0${nth}`;
    const address = `198.51.100.${made * 10 + nth}`;
    const disks = [`${model}-${nth}-A`];
    const bmc = world.bmcAt(address);
    bmc.power = 'off';
    const id = await stockServer(world.product, model, {
      ...{ name: `${model}-${nth}`, mac, bmc: { address, user: 'root', password: 'factory-1' } },
      disks: disks.map((serial) => ({ serial, bytes: 960_197_124_096, kind: 'nvme' as const })),
    });
    servers.push(Object.assign(playServer(world, { mac, disks, bmc }), { id, mac }));
  }
  const [first] = servers;
  if (first === undefined) throw new Error('none');
  return { productId, first, servers };
}

/** The job about a service is at work, and then stands still for staff, as one that failed for a reason of ours. */
async function stuck(name: string, serviceId: number): Promise<number> {
  const [job] = await until(
    () =>
      sql<{ id: number }>(
        world.product,
        `update jobs set state = 'stuck', worker = null, finished_at = now(), stuck_reason = 'a test' where name = $1 and state = 'ready'
           and payload ->> 'serviceId' = $2::text and error_message like 'the server is on its way%' returning id`,
        name,
        serviceId,
      ),
    (rows) => rows.length > 0,
    60_000,
  );
  return job?.id ?? 0;
}

it('a server on its way back is put aside once its job was dismissed: its addresses rest, and nothing starts our installer', async () => {
  const { productId, first } = await stocked();
  const { serviceId } = await orderDedicated(customer, productId);
  const { primary_ip: ip } = await until(
    () => service(serviceId),
    ({ status }) => status === 'active',
    60_000,
  );
  first.does = { startsNothing: true };
  const ended = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  const job = await stuck('dedicated.return', serviceId);

  const before = (await serverOf(first.id)).actions.quarantine;
  expect(before).toMatchObject({
    allowed: false,
    reason: expect.stringMatching(/a job works on it.*dismissed/),
  });
  expect((await quarantine(first.id)).status).toBe(409);
  expect((await staff().post(`/staff/jobs/${job}/dismiss`, { reason: 'done by hand' })).status).toBe(200);
  expect((await serverOf(first.id)).actions.quarantine.allowed).toBe(true);
  expect((await quarantine(first.id)).body.data.server).toMatchObject({
    ...{ state: 'quarantined', service_id: null },
    reason:
      'It hangs there; it may still run with the addresses that it had, which nobody gets before its BMC says that it is off: pull its power',
  });
  await settled(world.product);
  const [address] = await sql(world.product, 'select state from addresses where host(address) = $1', ip);
  expect(address).toEqual({ state: 'resting' });
  // Nothing would have switched it off any more, and its addresses go to others.
  expect(first.bmc.power).toBe('off');
  expect(await world.starts(first.mac)).toContain('sanboot');
  expect((await staff().post(`/staff/servers/${first.id}/release`)).body.data.server.state).toBe('waiting');

  // The job that was dismissed does not go on with a server that is somebody else's by now.
  expect((await staff().post(`/staff/jobs/${job}/retry`)).status).toBe(404);
}, 120_000);

it('a server whose delivery was dismissed is put aside, and its order has failed and goes on with another one', async () => {
  const { productId, first } = await stocked(2);
  const unpaid = await customer.post('/cart/checkout/invoice', {
    products: [
      {
        ...{ id: productId, cycle: 'monthly', type: 'Hosting' },
        options: { option4: 1, option6: 'tiny', domain: 'metal3.example.com', password: 'Good-Pass-1' },
      },
    ],
  });
  expect(unpaid.status).toBe(200);
  const held = await quarantine(first.id);
  expect([held.status, held.body.message]).toEqual([409, expect.stringMatching(/is held/)]);
  const left = await customer.post(`/dashboard/invoices/${unpaid.body.data.invoice_id}/cancel`);
  expect(left.status, left.body.message).toBe(200);
  await until(
    () => serverOf(first.id),
    ({ state }) => state === 'ready',
  );

  first.does = { startsNothing: true };
  const { serviceId } = await orderDedicated(customer, productId);
  expect(await serverOf(first.id)).toMatchObject({ state: 'held', service_id: serviceId });
  const job = await stuck('dedicated.provision', serviceId);
  // As a restore holds it: it would go on where it stood, with the server that it had.
  await sql(world.product, 'update jobs set held_at = now() where id = $1', job);
  expect((await quarantine(first.id)).status).toBe(409);
  expect((await staff().post(`/staff/jobs/${job}/dismiss`, { reason: 'done by hand' })).status).toBe(200);
  expect((await quarantine(first.id)).body.data.server).toMatchObject({
    state: 'quarantined',
    service_id: null,
  });
  await until(
    () => service(serviceId),
    ({ provisioning_state: state }) => state === 'failed',
    30_000,
  );
  expect((await staff().post(`/staff/services/${serviceId}/retry`, {})).status).toBe(200);
  await until(
    () => service(serviceId),
    ({ status }) => status === 'active',
    60_000,
  );
  expect(await serverOf(first.id)).toMatchObject({ state: 'quarantined', service_id: null });
}, 120_000);
