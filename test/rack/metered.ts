import type { SimulatedSwitch, SimulatedSwitches } from '../../src/drivers/switch/index.ts';
import { rentServer } from '../../src/fleet/index.ts';
import { transaction } from '../../src/platform/index.ts';
import { completeDelivery, requireOrder } from '../../src/services/index.ts';
import type { Client } from '../client.ts';
import { type TestProduct, until } from '../product.ts';
import { newServerProduct, newServers, serverCart } from './stock.ts';

const credential = {
  ...{ user: 'innkeeper', auth_protocol: 'sha256' },
  ...{ auth_passphrase: 'auth-pass-123', privacy_passphrase: 'priv-pass-123' },
};

export interface MeteredSwitch {
  id: number;
  it: SimulatedSwitch;
  /** Travels so far, and has the switch read: what its ports have carried is counted. */
  readAfter(ms: number): Promise<void>;
  /** Bytes that came in at a port, and that went out, by its own counters. */
  carry(port: string, incoming: bigint, outgoing: bigint): void;
  plug(port: string, mac: string | null): Promise<void>;
}

let made = 0;
const next = () => {
  made += 1;
  return made;
};

/** A simulated switch with these ports, read once. */
export async function newMeteredSwitch(
  product: TestProduct,
  switches: SimulatedSwitches,
  ports: readonly string[],
): Promise<MeteredSwitch> {
  const nth = next();
  const address = `192.0.2.${nth}`;
  const port = { label: '', isUp: true, speedMbps: 10_000, macs: [], vlan: null };
  const it = switches.put(address, {
    ports: ports.map((name) => ({ ...port, name, counters: { in: 0n, out: 0n } })),
  });
  const wanted = { name: `metered-${nth}`, location: 'AMS', address, credential };
  const { status, body } = await product.staff.post('/staff/switches', wanted);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { id } = body.data.switch;
  const read = async () => (await product.staff.get(`/staff/switches/${id}`)).body.data.switch.check;
  await until(read, ({ state }) => state !== 'checking');
  return {
    ...{ id, it },
    async readAfter(ms) {
      const before = await read();
      product.clock.travel(ms);
      it.uptimeMs += ms;
      await product.periodic('fleet.readSwitches');
      await until(read, ({ checked_at: at }) => at !== before.checked_at);
    },
    carry(name, incoming, outgoing) {
      const found = it.ports.find((each) => each.name === name);
      if (!found?.counters) throw new Error(`${name} counts nothing`);
      found.counters = { in: found.counters.in + incoming, out: found.counters.out + outgoing };
    },
    async plug(name, mac) {
      const answer = await product.staff.post(`/staff/switches/${id}/plug`, { port: name, mac });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
  };
}

/** A server that a customer has, with two ports that are plugged in nowhere. */
export async function rentedServer(
  product: TestProduct,
  customer: Client,
  productId: number | null = null,
  cycle = 'monthly',
): Promise<{ id: number; serverId: number; macs: [string, string]; path: string }> {
  const sold = productId ?? (await newServerProduct(product));
  const { serverIds } = await newServers(product, sold, 1);
  const serverId = serverIds[0] ?? 0;
  const nth = String(next()).padStart(2, '0');
  const macs: [string, string] = [`52:54:00:00:2a:${nth}`, `52:54:00:00:2b:${nth}`];
  await product.staff.patch(`/staff/servers/${serverId}`, { macs });
  const id = await rentAgain(product, customer, sold, cycle);
  return { id, serverId, macs, path: `/dashboard/service/${id}/dedicated` };
}

/** Orders a server of a product and hands it over. Answers the service. */
export async function rentAgain(
  product: TestProduct,
  customer: Client,
  productId: number,
  cycle = 'monthly',
): Promise<number> {
  const { products } = serverCart(productId, { option5: 1 });
  const cart = { products: products.map((each) => ({ ...each, cycle })) };
  const order = await customer.post('/cart/checkout/invoice', cart);
  if (order.status !== 200) throw new Error(JSON.stringify(order.body));
  // Nobody has paid it: what is paid is installed.
  const id = order.body.data.service_ids[0] as number;
  await transaction(product.ctx, 'test.deliver', async (tx) => {
    const wanted = await requireOrder(tx, id);
    await completeDelivery(tx, wanted, { hostname: wanted.domain, primaryIp: null });
    await rentServer(tx, id);
  });
  return id;
}
