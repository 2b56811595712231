import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('an order that names no place goes on with a server of another one, and with addresses of there', async () => {
  const staff = world.product.staff;
  const pool = { name: 'pool FRA', location: 'FRA', network: '10.83.0.0/24' };
  expect((await staff.post('/staff/address-pools', pool)).status).toBe(200);
  const productId = await newDedicated(world.product, 'E-1');
  const servers = [];
  for (const [at, location] of ['AMS', 'FRA'].entries()) {
    const mac = `52:54:00:4f:01:0${at}`;
    const address = `198.51.100.${at + 1}`;
    const disks = [`E-${at}-A`];
    const bmc = world.bmcAt(address);
    bmc.power = 'off';
    const id = await stockServer(world.product, 'E-1', {
      ...{ name: `E-${at}`, mac, location, bmc: { address, user: 'root', password: 'factory-1' } },
      disks: disks.map((serial) => ({ serial, bytes: 960_197_124_096, kind: 'nvme' as const })),
    });
    servers.push(Object.assign(playServer(world, { mac, disks, bmc }), { id }));
  }
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('none');
  first.does = { hasDisks: ['x'] };
  const { serviceId } = await orderDedicated(customer, productId);
  const service = await until(
    async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service,
    ({ provisioning_state: state }) => state === 'done' || state === 'failed',
    60_000,
  );
  expect(service).toMatchObject({ status: 'active', primary_ip: expect.stringMatching(/^10\.83\./) });
  expect(second.plans.at(-1).identity.addresses).toMatchObject([{ address: service.primary_ip }]);
  const stateOf = async (id: number) => (await staff.get(`/staff/servers/${id}`)).body.data.server.state;
  expect([await stateOf(first.id), await stateOf(second.id)]).toEqual(['quarantined', 'rented']);
  const held = await sql(
    world.product,
    `select host(address) as address from addresses where service_id = $1 and state = 'taken'`,
    serviceId,
  );
  expect(held).toEqual([{ address: service.primary_ip }]);
}, 120_000);
