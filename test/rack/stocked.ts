import { addProduct } from '../../src/catalog/index.ts';
import type { Inventory } from '../../src/drivers/installer/index.ts';
import { keepBmc, type NewBmc } from '../../src/fleet/servers/bmc.ts';
import { keepHardware } from '../../src/fleet/servers/hardware.ts';
import { keepMacs } from '../../src/fleet/servers/macs.ts';
import { insertOne } from '../../src/fleet/servers/staff.ts';
import { transaction } from '../../src/platform/index.ts';
import { kinds } from '../../src/services/index.ts';
import type { Client } from '../client.ts';
import { password } from '../orders.ts';
import type { TestProduct } from '../product.ts';
import { sql } from '../sql.ts';

/** A server as enrolment leaves it: ready, measured, and with a BMC of ours. */
export interface StockedServer {
  name: string;
  mac: string;
  disks: { serial: string; bytes: number; kind: 'nvme' | 'ssd' | 'hdd' }[];
  bmc: Omit<NewBmc, 'kind'>;
  boot?: 'bios' | 'uefi';
  /** Default: AMS. */
  location?: string;
}

/** A product that is sold out of the rack, with a profile that fits all servers of its model. Returns its id, and the profile's model. */
export async function newDedicated(product: TestProduct, model: string): Promise<number> {
  const productId = await transaction(product.ctx, 'test.newDedicated', (tx) =>
    addProduct(tx, {
      ...{ type: 'Hosting', moduleId: kinds.dedicated.id, group: 'Servers', name: model, description: '' },
      ...{ currency: 'EUR', stock: null },
      prices: [{ cycle: 'monthly', priceMinor: 5_000, setupFeeMinor: 0 }],
      options: [
        {
          ...{ key: 'option4', name: 'ipv4_count', label: 'IPv4', kind: 'integer' },
          ...{ min: 1, max: 1, step: 1, unitPriceMinor: 0, required: true },
        },
        {
          ...{ key: 'option6', name: 'operating_system', label: 'System', kind: 'choice', required: true },
          choices: [{ value: 'tiny', label: 'Tiny', priceMinor: 0 }],
        },
      ],
    }),
  );
  const { status, body } = await product.staff.post('/staff/server-profiles', {
    ...{ name: model, model, product_id: productId },
  });
  if (status !== 200) throw new Error(`no profile: ${JSON.stringify(body)}`);
  return productId;
}

/** Puts a server into a rack of its own. Returns its id. */
export async function stockServer(
  product: TestProduct,
  model: string,
  { name, mac, disks, bmc, boot = 'bios', location = 'AMS' }: StockedServer,
): Promise<number> {
  const rack = await product.staff.post('/staff/racks', { name: `rack ${name}`, location, units: 10 });
  const hardware: Inventory = {
    system: { uuid: `uuid of ${name}`, vendor: 'Example', product: model, serial: `serial of ${name}` },
    firmware: { version: '1', boot },
    processor: { model: 'Processor', sockets: 1, cores: 2, threads: 2 },
    ...{ memoryMib: 1_024, memoryModules: [] },
    disks: disks.map((disk) => ({ ...disk, model: 'Disk', firmware: '1', healthy: true })),
    ports: [{ name: 'eth0', mac, linked: true }],
    bmc: null,
  };
  const id = await transaction(product.ctx, 'test.stockServer', async (tx) => {
    const serverId = await insertOne(tx, {
      ...{ name, serial: `serial of ${name}`, rack_id: rack.body.data.rack.id, unit: 1 },
    });
    await keepMacs(tx, serverId, [mac]);
    await keepHardware(tx, serverId, hardware);
    await keepBmc(tx, serverId, { kind: 'ipmi', ...bmc });
    return serverId;
  });
  await sql(product, `update servers set state = 'ready' where id = $1`, id);
  return id;
}

/** Orders one of a product and pays it. */
export async function orderDedicated(
  client: Client,
  productId: number,
  change: Record<string, unknown> = {},
): Promise<{ serviceId: number; invoiceId: number }> {
  const options = { option4: 1, option6: 'tiny', domain: 'metal1.example.com', password, ...change };
  const order = await client.post('/cart/checkout/invoice', {
    products: [{ id: productId, cycle: 'monthly', type: 'Hosting', options }],
  });
  if (order.status !== 200) throw new Error(`checkout answered ${JSON.stringify(order.body)}`);
  const invoiceId = order.body.data.invoice_id as number;
  const paid = await client.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  if (paid.status !== 200) throw new Error(`paying answered ${JSON.stringify(paid.body)}`);
  return { invoiceId, serviceId: order.body.data.service_ids[0] as number };
}
