import { addProduct } from '../../src/catalog/index.ts';
import { type PlayedServer, playServer } from '../../src/demo/rack/played.ts';
import type { Inventory } from '../../src/drivers/installer/index.ts';
import { keepBmc, type NewBmc } from '../../src/fleet/servers/bmc.ts';
import { keepHardware } from '../../src/fleet/servers/hardware.ts';
import { keepMacs } from '../../src/fleet/servers/macs.ts';
import { insertOne } from '../../src/fleet/servers/staff.ts';
import { transaction } from '../../src/platform/index.ts';
import { kinds } from '../../src/services/index.ts';
import type { Client } from '../client.ts';
import { password } from '../orders.ts';
import { type TestProduct, until } from '../product.ts';
import { settled, sql } from '../sql.ts';
import type { ArrivingProduct } from './arriving.ts';

/** A server as enrolment leaves it: ready, measured, and with a BMC of ours. */
export interface StockedServer {
  name: string;
  mac: string;
  disks: { serial: string; bytes: number; kind: 'nvme' | 'ssd' | 'hdd' }[];
  bmc: Omit<NewBmc, 'kind'>;
  boot?: 'bios' | 'uefi';
  /** Default: AMS. */
  location?: string;
  /** What its port and the switch have agreed on. Default: nobody knows. */
  portMbps?: number | undefined;
}

/** What of a product is needed to arrange servers. */
type Arranged = Pick<TestProduct, 'ctx' | 'staff' | 'databaseUrl'>;

const portSpeeds = {
  ...{ key: 'option7', name: 'port_speed', label: 'Port', kind: 'choice' as const, required: false },
  choices: ['1gbit', '10gbit'].map((value) => ({ value, label: value, priceMinor: 0 })),
};

/** A product that is sold out of the rack, with a profile that fits all servers of its model. Returns its id, and the profile's model. */
export async function newDedicated(product: Arranged, model: string, portMbps?: number): Promise<number> {
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
        ...(portMbps === undefined ? [] : [portSpeeds]),
      ],
    }),
  );
  const { status, body } = await product.staff.post('/staff/server-profiles', {
    ...{ name: model, model, product_id: productId, port_mbps: portMbps ?? null },
    // Of servers before, whose hardware a test wrote, some may fit none any more.
    confirm: model,
  });
  if (status !== 200) throw new Error(`no profile: ${JSON.stringify(body)}`);
  return productId;
}

/** Puts a server into a rack of its own. Returns its id. */
export async function stockServer(
  product: Arranged,
  model: string,
  { name, mac, disks, bmc, boot = 'bios', location = 'AMS', portMbps }: StockedServer,
): Promise<number> {
  const rack = await product.staff.post('/staff/racks', { name: `rack ${name}`, location, units: 10 });
  const hardware: Inventory = {
    system: { uuid: `uuid of ${name}`, vendor: 'Example', product: model, serial: `serial of ${name}` },
    firmware: { version: '1', boot },
    processor: { model: 'Processor', sockets: 1, cores: 2, threads: 2 },
    ...{ memoryMib: 1_024, memoryModules: [] },
    disks: disks.map((disk) => ({ ...disk, model: 'Disk', firmware: '1', healthy: true })),
    ports: [{ name: 'eth0', mac, linked: true, ...(portMbps !== undefined && { speedMbps: portMbps }) }],
    bmc: null,
  };
  const id = await transaction(product.ctx, 'test.stockServer', async (tx) => {
    const serverId = await insertOne(tx, {
      ...{ name, serial: `serial of ${name}`, rack_id: rack.body.data.rack.id, unit: 1 },
    });
    await keepMacs(tx, serverId, [mac]);
    await keepHardware(tx, serverId, hardware, mac);
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

export type StockedPlayed = PlayedServer & { id: number; name: string; mac: string; disks: string[] };

type DiskKind = Pick<StockedServer['disks'][number], 'kind' | 'bytes'>;

interface PlayedStock {
  /** Default: one. */
  count?: number;
  /** Of each server, called `<its name>-A`, `<its name>-B` and so on. Default: two NVMe disks of 960 GB. */
  kinds?: readonly DiskKind[];
  /** What their installers measure. Default: the same. */
  really?: readonly DiskKind[];
  /** What their ports and the switch have agreed on, which their profile says then. Default: nobody knows, and it says nothing. */
  portMbps?: number;
}

const usual: DiskKind = { kind: 'nvme', bytes: 960_197_124_096 };

let modelsSoFar = 0;
let stockedSoFar = 0;
/** Servers that are played and alike, in stock and off, and the product that sells them. A single one is called as its model, several `<model>-1` and so on. */
export async function stockPlayed(
  world: ArrivingProduct,
  { count = 1, kinds = [usual, usual], really = kinds, portMbps }: PlayedStock = {},
): Promise<{ productId: number; servers: StockedPlayed[]; first: StockedPlayed }> {
  modelsSoFar += 1;
  const model = `P-${modelsSoFar}`;
  const productId = await newDedicated(world.product, model, portMbps);
  const servers: StockedPlayed[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    stockedSoFar += 1;
    const name = count === 1 ? model : `${model}-${nth}`;
    const mac = `52:54:00:0f:${stockedSoFar.toString(16).padStart(2, '0')}:01`;
    const address = `198.51.100.${stockedSoFar}`;
    const disks = kinds.map((_, at) => `${name}-${String.fromCharCode(65 + at)}`);
    const bmc = world.bmcAt(address);
    bmc.power = 'off';
    const id = await stockServer(world.product, model, {
      ...{ name, mac, portMbps, bmc: { address, user: 'root', password: 'factory-1' } },
      disks: kinds.map((kind, at) => ({ ...kind, serial: disks[at] ?? '' })),
    });
    const drives = Object.fromEntries(really.map((kind, at) => [disks[at] ?? '', kind]));
    servers.push(Object.assign(playServer(world, { mac, disks, bmc, drives }), { id, name, mac, disks }));
  }
  const [first] = servers;
  if (first === undefined) throw new Error('none was stocked');
  return { productId, servers, first };
}

/** A service once its delivery has come to an end, good or bad. */
export function deliveredTo(client: Client, serviceId: number) {
  return until(
    async () => (await client.get(`/dashboard/services/${serviceId}`)).body.data.service,
    ({ provisioning_state: state }) => state === 'done' || state === 'failed',
    60_000,
  );
}

export type RentedPlayed = StockedPlayed & { productId: number; serviceId: number; ip: string; path: string };

/** A server that is played and that somebody has, with disks of these kinds and sizes. */
export async function rentPlayed(
  world: ArrivingProduct,
  client: Client,
  kinds?: readonly DiskKind[],
): Promise<RentedPlayed> {
  const { productId, first: played } = await stockPlayed(world, kinds === undefined ? {} : { kinds });
  const { serviceId } = await orderDedicated(client, productId);
  const service = await deliveredTo(client, serviceId);
  if (service.status !== 'active') throw new Error(`the service is ${service.status}`);
  await world.product.periodic('fleet.askBmcs');
  await settled(world.product);
  const path = `/dashboard/service/${serviceId}/dedicated`;
  return Object.assign(played, { productId, serviceId, ip: service.primary_ip, path });
}
