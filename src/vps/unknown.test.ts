import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { simulatorStore } from '../drivers/hypervisor/index.ts';
import { machineIdOf } from './machine.ts';
import { reconcileNode } from './reconcile.ts';

const store = simulatorStore();
let product: TestProduct;
let customer: Person;
let nodeId: number;

beforeAll(async () => {
  product = await startTestProduct({ simulator: { store } });
  customer = await newCustomer(product, { creditMinor: 50_000 });
  const [node] = await sql<{ id: number }>(product, 'select id from nodes');
  nodeId = node?.id ?? 0;
});
afterAll(() => product.stop());

const compare = () => reconcileNode(product.ctx, nodeId, product.hypervisor);

/** A machine on the node that no row tells of, as one that was delivered after a backup that was restored. */
async function makeStranger(id: string, address: string): Promise<void> {
  const nic = {
    mac: '02:00:00:00:99:01',
    portMbps: 100,
    addresses: [{ family: 4 as const, address, prefix: 24, gateway: '10.77.0.1' }],
  };
  const spec = { id, cpuCores: 1, memoryMib: 256, diskGib: 5, image: 'tiny', nic };
  const { hypervisor } = product;
  await hypervisor.ensureImage({ slug: 'tiny', kind: 'build', recipe: 'tiny' }, () => undefined);
  await hypervisor.createDisk(spec);
  const identity = {
    hostname: 'kept',
    passwordHash: null,
    authorizedKeys: [],
    nameservers: [],
    userData: null,
  };
  await hypervisor.writeIdentity(spec, identity);
  await hypervisor.start(spec);
}

async function concerns(): Promise<{ message: string }[]> {
  const { body } = await product.staff.get('/staff/attention');
  return body.data.concerns.filter(({ kind }: { kind: string }) => kind === 'machine.unknown');
}

async function stateOf(address: string): Promise<string | undefined> {
  const [row] = await sql<{ state: string }>(
    product,
    'select state from addresses where address = $1',
    address,
  );
  return row?.state;
}

it('a machine that the database does not know runs on, keeps its addresses, and is told staff until it is gone', async () => {
  const [free] = await sql<{ address: string }>(
    product,
    `select host(address) as address from addresses where state = 'free' order by address limit 1`,
  );
  const address = free?.address ?? '';
  await makeStranger('vps-4503599627370499', address);
  await compare();
  await compare();
  expect(await concerns()).toHaveLength(1);
  expect((await concerns())[0]?.message).toContain(`vps-4503599627370499 that no service has (${address})`);
  expect(store.machines.get('vps-4503599627370499')?.startedAtMs).not.toBeNull();
  // The first free address is whose turn it would be.
  const { serviceId } = await runningVps(product, customer);
  const { body } = await customer.get(`/dashboard/service/${serviceId}/vps/ips`);
  expect(JSON.stringify(body)).not.toContain(`"${address}"`);
  expect(await stateOf(address)).toBe('reserved');

  await product.hypervisor.destroy('vps-4503599627370499');
  await compare();
  expect(await concerns()).toEqual([]);
  expect(await stateOf(address)).toBe('resting');
});

it('an order of which its node has a machine already writes over nothing, and is delivered once that is gone', async () => {
  const order = await orderVps(product, customer);
  const machine = machineIdOf(order.serviceId);
  await makeStranger(machine, '10.77.0.250');
  await compare();
  const before = store.machines.get(machine);
  await customer.post(`/dashboard/invoices/${order.invoiceId}/pay`, { method: 'credit' });
  const state = async () =>
    (await customer.get(`/dashboard/services/${order.serviceId}`)).body.data.service.provisioning_state;
  await until(state, (seen) => seen === 'failed');
  expect(store.machines.get(machine)).toBe(before);
  expect(before?.startedAtMs).not.toBeNull();
  expect(before?.spec?.memoryMib).toBe(256);

  await product.hypervisor.destroy(machine);
  await compare();
  await product.staff.post(`/staff/services/${order.serviceId}/retry`, {});
  await until(state, (seen) => seen === 'done');
});
