import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { movesIn } from '../../../test/rack/moving.ts';
import { deliveredTo, orderDedicated, rentPlayed, stockPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import { sendBackUnwiped } from '../../fleet/servers/rent.ts';
import { transaction } from '../../platform/index.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const { serverOf, another, asked, ended, isFree } = movesIn(
  () => world,
  () => customer,
);
const erasure = (serviceId: number) => customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
const overview = async (serviceId: number) =>
  (await customer.get(`/dashboard/service/${serviceId}/dedicated/overview`)).body.data.dedicated;
const serialsOf = async (serviceId: number) =>
  (await erasure(serviceId)).body.data?.erasure.disks.map(({ serial }: { serial: string }) => serial);
const provedOf = async (serverId: number) =>
  (await staff().get(`/staff/erasures?server_id=${serverId}`)).body.data.disks;
async function end(serviceId: number): Promise<void> {
  const { status, body } = await customer.post(`/dashboard/services/${serviceId}/cancel`, {
    type: 'immediate',
  });
  expect(status, body.message).toBe(200);
}
/** As when staff has had a server enrolled again that was set aside. */
async function wipedLater(id: number): Promise<void> {
  expect(await transaction(world.product.ctx, 'test.sendBack', (tx) => sendBackUnwiped(tx, id))).toBe(true);
  await isFree(id);
  await settled(world.product);
}

it('a server that was set aside before it was installed is no server of the order that went on with another one: nobody is shown that it was wiped', async () => {
  const { productId, servers } = await stockPlayed(world, { count: 2 });
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('too few');
  first.does = { fails: { reason: 'the boot loader could not be written', times: 1 } };
  const { serviceId } = await orderDedicated(customer, productId);
  expect(await deliveredTo(customer, serviceId)).toMatchObject({ status: 'active' });
  expect(await serverOf(first.id)).toMatchObject({ state: 'quarantined' });
  await wipedLater(first.id);
  expect([first.wipes, first.plans.at(-1).task]).toEqual([2, 'wipe']);
  const before = await erasure(serviceId);
  expect([before.status, before.body.message]).toEqual([409, expect.stringMatching(/is active/)]);
  expect(await provedOf(first.id)).toEqual([]);

  await end(serviceId);
  await isFree(second.id);
  expect(await serialsOf(serviceId)).toEqual(second.disks);
}, 120_000);

it('one that could not be wiped then leaves the service that never had it as it is', async () => {
  const { productId, servers } = await stockPlayed(world, { count: 2 });
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('too few');
  first.does = { fails: { reason: 'the boot loader could not be written', times: 1 } };
  const { serviceId } = await orderDedicated(customer, productId);
  await deliveredTo(customer, serviceId);
  first.does = { keeps: first.disks[0] ?? '' };
  await transaction(world.product.ctx, 'test.sendBack', (tx) => sendBackUnwiped(tx, first.id));
  await isFree(first.id, 'broken');
  await end(serviceId);
  await isFree(second.id);
  await settled(world.product);
  expect(await serialsOf(serviceId)).toEqual(second.disks);
  expect(await overview(serviceId)).toMatchObject({ state: 'deleting', problem: null });
}, 120_000);

it.each([
  ['wipe', false],
  ['boot', true],
] as const)(
  'of an order that is refunded at: %s, its customer is shown how the disks were wiped: %s',
  async (at, isShown) => {
    const { productId, first } = await stockPlayed(world);
    const order = Promise.withResolvers<number>();
    first.does = {
      at: async (step) => {
        if (!step.startsWith(at)) return;
        first.does = {};
        const body = { method: 'credit', reason: 'a mistake' };
        const refund = await staff().post(`/staff/invoices/${await order.promise}/refund`, body);
        expect(refund.status, refund.body.message).toBe(200);
        // It goes no further before that is called off.
        await until(
          () =>
            sql(
              world.product,
              `select 1 from server_assignments where server_id = $1 and state = 'cancelled'`,
              first.id,
            ),
          (rows) => rows.length > 0,
          60_000,
        );
      },
    };
    const { serviceId, invoiceId } = await orderDedicated(customer, productId);
    order.resolve(invoiceId);
    await until(
      async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service.status,
      (status) => status === 'cancelled',
      60_000,
    );
    await isFree(first.id);
    await settled(world.product);
    expect(first.plans.at(-1).task).toBe('wipe');
    if (isShown) expect(await serialsOf(serviceId)).toEqual(first.disks);
    else expect((await erasure(serviceId)).body.message).toMatch(/cancelled before its server was yours/);
    expect(await provedOf(first.id)).toHaveLength(isShown ? first.disks.length : 0);
  },
  120_000,
);

it('of a service that had left a server before, nobody says that the one which it ends with is wiped before it is', async () => {
  const server = await rentPlayed(world, customer);
  const { serviceId } = server;
  const to = await another(server);
  expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
  await isFree(server.id);
  await settled(world.product);
  expect(await serialsOf(serviceId)).toEqual(server.disks);
  // Its return has not begun yet.
  await sql(world.product, `update services set status = 'terminated' where id = $1`, serviceId);
  const early = await erasure(serviceId);
  expect([early.status, early.body.message]).toEqual([
    409,
    'The server is on its way back, and is wiped soon',
  ]);
  await sql(world.product, `update services set status = 'active' where id = $1`, serviceId);
  await end(serviceId);
  await isFree(to.id);
  expect(await serialsOf(serviceId)).toEqual(to.disks);
}, 120_000);

it('a server that was set aside before its return was planned is not wiped, and its customer reads so', async () => {
  const server = await rentPlayed(world, customer);
  const { serviceId } = server;
  await sql(world.product, 'update servers set hardware = null where id = $1', server.id);
  await end(serviceId);
  await isFree(server.id, 'quarantined');
  const words = expect.stringMatching(/could not be wiped yet, and our staff has to see to it/);
  expect((await erasure(serviceId)).body.message).toEqual(words);
  expect(await overview(serviceId)).toMatchObject({ state: 'broken', problem: words });
}, 90_000);
