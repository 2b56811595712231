import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { deliveredTo, orderDedicated, stockPlayed } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const delivered = (id: number) => deliveredTo(customer, id);

const nvme = { kind: 'nvme', bytes: 960_197_124_096 } as const;

/** A server in stock with the disks A and B, of that size by its record, and the product that it is sold as. */
async function stocked(bytes: number = nvme.bytes) {
  const kinds = [1, 2].map(() => ({ ...nvme, bytes }));
  const { productId, first } = await stockPlayed(world, { kinds, really: [nvme, nvme] });
  const { id, name: model } = first;
  const change = (removed: string, installed?: string) =>
    staff().post(`/staff/servers/${id}/disks`, {
      removed: `${model}-${removed}`,
      ...(installed !== undefined && { installed: `${model}-${installed}` }),
    });
  return Object.assign(first, { model, productId, change });
}

function cart(productId: number) {
  const options = { option4: 1, option6: 'tiny', domain: 'metal1.example.com', password: 'Good-Pass-1' };
  return { products: [{ id: productId, cycle: 'monthly', type: 'Hosting', options }] };
}

it('a disk that was changed while its customer had the server is the one that is looked for and wiped when it comes back', async () => {
  const server = await stocked();
  const { id, model, productId } = server;
  const { serviceId } = await orderDedicated(customer, productId);
  expect((await delivered(serviceId)).status).toBe('active');
  expect((await server.change('A', 'C')).status).toBe(200);
  expect((await serverOf(id)).state).toBe('rented');

  server.does = { hasDisks: [`${model}-B`, `${model}-C`] };
  const ended = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  const after = await until(
    () => serverOf(id),
    ({ state }) => /ready|broken|quarantined/.test(state),
    60_000,
  );
  expect([after.state, after.reason]).toEqual(['ready', null]);
  expect(server.plans.at(-1)).toMatchObject({ task: 'wipe', wipe: [`${model}-B`, `${model}-C`] });
  // What it has is what was measured then, and no word of staff's.
  expect(after.hardware.disks).toMatchObject([{ serial: `${model}-B` }, { serial: `${model}-C` }]);
  const proof = await customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
  expect(proof.body.data.erasure.disks.map(({ serial }: { serial: string }) => serial)).toEqual([
    `${model}-B`,
    `${model}-C`,
  ]);
}, 120_000);

it('a disk that was changed while an order held the server is wiped, and is half of the mirror that the other one was', async () => {
  const server = await stocked();
  const { model, productId } = server;
  const order = (await customer.post('/cart/checkout/invoice', cart(productId))).body.data;
  expect((await server.change('A', 'C')).status).toBe(200);
  server.does = { hasDisks: [`${model}-B`, `${model}-C`] };
  await customer.post(`/dashboard/invoices/${order.invoice_id}/pay`, { method: 'credit' });
  expect((await delivered(order.service_ids[0])).status).toBe('active');
  const both = [`${model}-B`, `${model}-C`];
  expect(server.plans).toMatchObject([{ wipe: both, layout: { kind: 'raid1', serials: both } }]);
}, 120_000);

it.each([
  ['is in the place of another one', 'C'],
  ['was taken out', undefined],
])('a server in stock of which a disk %s is not sold before it was measured anew', async (_, installed) => {
  const server = await stocked();
  const { id, productId } = server;
  expect((await server.change('A', installed)).body.data.server).toMatchObject({
    ...{ state: 'waiting', reason: expect.stringMatching(/enrolled again/) },
  });
  const order = await customer.post('/cart/checkout/invoice', cart(productId));
  expect([order.status, order.body.code]).toEqual([400, 'insufficient_stock']);
  expect((await serverOf(id)).state).toBe('waiting');
});

it('a server of which a disk was changed while an order held it is not in stock again when the order is given up', async () => {
  const server = await stocked();
  const { id, productId } = server;
  const order = (await customer.post('/cart/checkout/invoice', cart(productId))).body.data;
  expect((await server.change('A', 'C')).status).toBe(200);
  expect((await customer.post(`/dashboard/invoices/${order.invoice_id}/cancel`)).status).toBe(200);
  const after = await until(
    () => serverOf(id),
    ({ state }) => state !== 'held',
    30_000,
  );
  expect(after).toMatchObject({ state: 'waiting', reason: expect.stringMatching(/enrolled again/) });
});

it('nobody gets a server that lacks a disk of those that it was sold with', async () => {
  const server = await stocked();
  const { id, productId } = server;
  const rule = JSON.stringify([{ kind: 'nvme', gb: 960, count: 2 }]);
  await sql(
    world.product,
    'update server_profiles set disks = $1::jsonb where product_id = $2',
    ...[rule, productId],
  );
  const order = (await customer.post('/cart/checkout/invoice', cart(productId))).body.data;
  expect((await server.change('A')).status).toBe(200);
  await customer.post(`/dashboard/invoices/${order.invoice_id}/pay`, { method: 'credit' });
  expect((await delivered(order.service_ids[0])).provisioning_state).toBe('failed');
  expect(await serverOf(id)).toMatchObject({
    ...{ state: 'quarantined', reason: expect.stringMatching(/lacks 1 of the disks that its profile says/) },
  });
  expect(server.wipes).toBe(0);
});

it('nobody gets a server whose disks are others than it was sold with, by what its installer measures', async () => {
  const server = await stocked(480_103_981_056);
  const { serviceId } = await orderDedicated(customer, server.productId);
  expect((await delivered(serviceId)).provisioning_state).toBe('failed');
  expect(await serverOf(server.id)).toMatchObject({
    state: 'quarantined',
    reason: expect.stringMatching(/-A is nvme of 960 GB, and was taken for nvme of 480 GB/),
  });
  expect(server.wipes).toBe(0);
}, 120_000);
