import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { deliveredTo, orderDedicated, stockPlayed } from '../../../test/rack/stocked.ts';
import { settled } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

it('whoever waits for a server reads how far it is and no serial number of it; who reinstalls theirs reads which disk is at it', async () => {
  const { productId, first: server } = await stockPlayed(world);
  const notes: string[] = [];
  const order = Promise.withResolvers<number>();
  server.does = {
    at: async (step) => {
      if (!step.startsWith('wipe')) return;
      const { body } = await customer.get(`/dashboard/service/${await order.promise}/dedicated/overview`);
      const { delivery } = body.data.dedicated;
      notes.push(delivery.note);
    },
  };
  const { serviceId } = await orderDedicated(customer, productId);
  order.resolve(serviceId);
  expect(await deliveredTo(customer, serviceId)).toMatchObject({ status: 'active' });
  expect(notes).toEqual(['Wiping the disks, 1 of 2', 'Wiping the disks, 2 of 2']);

  await settled(world.product);
  notes.length = 0;
  const path = `/dashboard/service/${serviceId}/dedicated`;
  let id = 0;
  server.does = {
    at: async (step) => {
      if (!step.startsWith('wipe')) return;
      await expect
        .poll(
          async () => {
            const { note } = (await customer.get(`${path}/history/${id}`)).body.data.action;
            if (typeof note === 'string' && note.startsWith('Wiping')) notes.push(note);
            return notes.length;
          },
          { timeout: 20_000 },
        )
        .toBeGreaterThan(0);
    },
  };
  const asked = await customer.post(`${path}/reinstall`, {
    ...{ os: 'tiny', password: 'Good-Pass-1', confirm: 'metal1.example.com' },
  });
  expect(asked.status, asked.body.message).toBe(200);
  id = asked.body.data.action.id;
  await settled(world.product);
  expect(notes[0]).toBe(`Wiping the disk ${server.disks[0]}, 1 of 2`);
}, 90_000);
