import { describe, expect, it } from 'vitest';
import { until } from '../../test/product.ts';
import { movingBed } from '../../test/rack/moving.ts';
import { deliveredTo, orderDedicated, type RentedPlayed, stockPlayed } from '../../test/rack/stocked.ts';
import { settled, sql } from '../../test/sql.ts';

const bed = movingBed();
const { staff, serverOf, moveOf, another, ask, asked, ended, isFree } = bed;
const slow = { says: { speedsMbps: [1_000] } };
const stockOf = async (productId: number) =>
  (await bed.customer.get(`/products/${productId}`)).body.data.product.stock;

/** A server with a port of 10 Gbit/s, sold as that, and its customer. */
async function rentFast(): Promise<RentedPlayed> {
  const { productId, first } = await stockPlayed(bed.world, { portMbps: 10_000 });
  const { serviceId } = await orderDedicated(bed.customer, productId, { option7: '10gbit' });
  const service = await deliveredTo(bed.customer, serviceId);
  expect(service.status).toBe('active');
  await bed.world.product.periodic('fleet.askBmcs');
  await settled(bed.world.product);
  const path = `/dashboard/service/${serviceId}/dedicated`;
  return Object.assign(first, { productId, serviceId, ip: service.primary_ip, path });
}

describe('a server whose port is slower than it was sold with', () => {
  it('is not taken for an order: another one is, and staff reads why', async () => {
    const { productId, servers } = await stockPlayed(bed.world, { count: 2, portMbps: 10_000 });
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error('none');
    first.does = slow;
    second.does = { says: { speedsMbps: [10_000] } };
    const { serviceId } = await orderDedicated(bed.customer, productId, { option7: '10gbit' });
    expect(await deliveredTo(bed.customer, serviceId)).toMatchObject({ status: 'active' });
    expect(await serverOf(first.id)).toMatchObject({
      state: 'quarantined',
      reason: expect.stringContaining(
        `its port ${first.mac}, which its addresses go to, has 1000 Mbit/s, and it was sold with 10000`,
      ),
    });
    // Before a disk was touched.
    expect([first.plans, first.wipes]).toEqual([[], 0]);
    expect(await serverOf(second.id)).toMatchObject({
      ...{ state: 'rented', service_id: serviceId, start_mac: second.mac, port_mbps: 10_000 },
    });
  }, 120_000);

  it('is not moved to, and the service stays where it is', async () => {
    const server = await rentFast();
    const to = await another(server, { portMbps: 10_000 });
    to.does = slow;
    const action = await ended(server, await asked(server));
    expect(action).toMatchObject({ status: 'error' });
    expect((await moveOf(server.id)).last).toMatchObject({
      ...{ moved: false, problem: expect.stringContaining('has 1000 Mbit/s, and it was sold with 10000') },
    });
    await isFree(to.id, 'quarantined');
    expect(to.plans).toEqual([]);
    // One that is known to be slower is none to choose.
    const known = await another(server, { portMbps: 1_000 });
    expect((await moveOf(server.id)).servers).toEqual([]);
    const { name } = await serverOf(server.id);
    const refused = await ask(server, { confirm: name, to_server_id: known.id });
    expect([refused.status, refused.body.details]).toMatchObject([
      400,
      [
        {
          field: 'to_server_id',
          message: expect.stringMatching(/would go to has 1000 Mbit\/s, and 10000 were sold$/),
        },
      ],
    ]);
  }, 120_000);

  it('is kept out of stock when it comes back, and is sold as what it is once staff accepts that', async () => {
    const server = await rentFast();
    const slower = await staff().post('/staff/server-profiles', {
      ...{ name: `slower ${server.id}`, port_mbps: 1_000, product_id: server.productId },
      model: (await serverOf(server.id)).hardware.system.product,
    });
    expect(slower.status, JSON.stringify(slower.body)).toBe(200);
    server.does = slow;
    const cancelled = await bed.customer.post(`/dashboard/services/${server.serviceId}/cancel`, {
      type: 'immediate',
    });
    expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200);
    const back = await isFree(server.id, 'quarantined');
    const why = `its port ${server.mac}, which its addresses go to, has 1000 Mbit/s, and `;
    expect(back).toMatchObject({
      ...{ reason: expect.stringContaining(why), differences: [expect.stringContaining(why)] },
      ...{ port_mbps: 1_000, profile_id: slower.body.data.profile.id },
    });
    expect(await stockOf(server.productId)).toBe(0);
    const accepted = await staff().post(`/staff/servers/${server.id}/differences/accept`, {});
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
    expect(await stockOf(server.productId)).toBe(1);
  }, 120_000);
});

it('an order that holds a server gets it, whatever its profile says by the time it is paid', async () => {
  const { productId, first } = await stockPlayed(bed.world);
  const [profile] = await sql<{ id: number; name: string }>(
    bed.world.product,
    'select id, name from server_profiles where product_id = $1',
    productId,
  );
  const options = { option4: 1, option6: 'tiny', domain: 'metal2.example.com', password: 'Canary-Pass-1' };
  const order = await bed.customer.post('/cart/checkout/invoice', {
    products: [{ id: productId, cycle: 'monthly', type: 'Hosting', options }],
  });
  expect(order.status, JSON.stringify(order.body)).toBe(200);
  const body = { port_mbps: 25_000, confirm: profile?.name };
  const changed = await staff().patch(`/staff/server-profiles/${profile?.id}`, body);
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  expect((await serverOf(first.id)).profile_id).toBeNull();
  first.does = slow;
  await bed.customer.post(`/dashboard/invoices/${order.body.data.invoice_id}/pay`, { method: 'credit' });
  const [serviceId] = order.body.data.service_ids;
  expect(await deliveredTo(bed.customer, serviceId)).toMatchObject({ status: 'active' });
  expect(await serverOf(first.id)).toMatchObject({ state: 'rented', service_id: serviceId });
}, 120_000);

it('a speed that was a price when it was ordered keeps nobody from another server once a profile says one', async () => {
  const { productId, first } = await stockPlayed(bed.world, {});
  const option = {
    ...{ key: 'option7', name: 'port_speed', label: 'Port' },
    values: ['1gbit', '10gbit', '25gbit'].map((value) => ({ value, label: value })),
  };
  const offered = await staff().patch(`/staff/products/${productId}`, { options: [option] });
  expect(offered.status, JSON.stringify(offered.body)).toBe(200);
  const { serviceId } = await orderDedicated(bed.customer, productId, { option7: '25gbit' });
  const service = await deliveredTo(bed.customer, serviceId);
  await bed.world.product.periodic('fleet.askBmcs');
  await settled(bed.world.product);
  const path = `/dashboard/service/${serviceId}/dedicated`;
  const server = Object.assign(first, { productId, serviceId, ip: service.primary_ip, path });
  const [profile] = await sql<{ id: number }>(
    bed.world.product,
    'select id from server_profiles where product_id = $1',
    productId,
  );
  const to = await another(server, { portMbps: 10_000 });
  const body = { port_mbps: 10_000, confirm: (await serverOf(to.id)).profile };
  const changed = await staff().patch(`/staff/server-profiles/${profile?.id}`, body);
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  expect((await moveOf(server.id)).servers).toMatchObject([{ id: to.id }]);
  expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
  expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: serviceId });
  await until(
    () => serverOf(server.id),
    ({ state }) => state === 'ready',
    60_000,
  );
}, 120_000);
