import { rentServer } from '../../src/fleet/index.ts';
import { transaction } from '../../src/platform/index.ts';
import { completeDelivery, requireOrder } from '../../src/services/index.ts';
import { type TestProduct, until } from '../product.ts';
import { sql } from '../sql.ts';

export interface ServersOnSale {
  memoryGb?: number;
  /** Of each of its two disks. */
  diskGb?: number;
  location?: string;
  state?: string;
  /** Of its port, as it was measured and as its profile says it. Default: neither. */
  portMbps?: number;
}

let made = 0;
/** So that no two of a file have the same. */
const next = () => {
  made += 1;
  return made;
};

const integer = (key: string, label: string, min: number, max: number) => {
  return { key, name: `${key}_name`, label, min, max, step: 1, unit_price: '0.10' };
};
const choice = (key: string, label: string, ...values: string[]) => {
  return { key, name: `${key}_name`, label, values: values.map((value) => ({ value, label: value })) };
};

/** What is asked of whoever orders a server: the options by which a VPS is ordered, but for its cores. */
export const serverProductOptions = [
  integer('option1', 'Memory (GB)', 1, 1_024),
  integer('option2', 'Storage (GB)', 1, 100_000),
  integer('option4', 'IPv4 addresses', 0, 4),
  integer('option5', 'IPv6 addresses', 0, 2),
  choice('option6', 'Operating system', 'tiny', 'debian', 'windows'),
  choice('option7', 'Port speed', '1gbit'),
  choice('option8', 'Location', 'AMS', 'FRA'),
];

/** A dedicated product, which no profile of servers is sold as yet. */
export async function newServerProduct(product: TestProduct, change: object = {}): Promise<number> {
  const { body: groups } = await product.staff.get('/staff/product-groups');
  const { status, body } = await product.staff.post('/staff/products', {
    ...{ group_id: groups.data.product_groups[0].id, type: 'Hosting', moduleId: 5, name: `Server ${next()}` },
    ...{ currency: 'EUR', status: 'active', prices: [{ cycle: 'monthly', price: '50.00' }] },
    ...{ options: serverProductOptions, ...change },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data.product.id;
}

/** A profile that is sold as a product, with servers in a rack that fit it. Answers their ids, the lowest first. */
export async function newServers(
  product: TestProduct,
  productId: number | null,
  count: number,
  { memoryGb = 64, diskGb = 960, location = 'AMS', state = 'ready', portMbps }: ServersOnSale = {},
): Promise<{ profileId: number; serverIds: number[] }> {
  const { staff } = product;
  const model = `Model ${next()}`;
  const rack = await staff.post('/staff/racks', { name: `R-${next()}`, location, units: 50 });
  const rackId = rack.body.data.rack.id;
  const serverIds: number[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const serial = `S/N ${next()}`;
    const server = { name: `${location}-${next()}`.toLowerCase(), serial, rack_id: rackId, unit: nth };
    const { body } = await staff.post('/staff/servers', server);
    const { id } = body.data.server;
    serverIds.push(id);
    const hardware = JSON.stringify(hardwareOf(model, serial, memoryGb, diskGb, portMbps));
    await sql(
      product,
      'update servers set hardware = $2::jsonb, port_mbps = $4::int, measured_at = now(), state = $3 where id = $1',
      ...[id, hardware, state, portMbps ?? null],
    );
  }
  const disks = [{ kind: 'nvme', gb: diskGb, count: 2 }];
  const name = `Profile ${next()}`;
  const profile = await staff.post('/staff/server-profiles', {
    ...{
      ...{ name, model },
      memory_gib: memoryGb,
      disks,
      port_mbps: portMbps ?? null,
      product_id: productId,
      // Of servers before, whose hardware a test wrote, some may fit none any more.
      confirm: name,
    },
  });
  if (profile.status !== 200) throw new Error(JSON.stringify(profile.body));
  return { profileId: profile.body.data.profile.id, serverIds };
}

function hardwareOf(model: string, serial: string, memoryGb: number, diskGb: number, speedMbps?: number) {
  return {
    system: { uuid: 'u', vendor: 'V', product: model, serial },
    firmware: { version: '1', boot: 'uefi' },
    processor: { model: 'EPYC', sockets: 1, cores: 8, threads: 16 },
    memoryMib: memoryGb * 1024,
    memoryModules: [{ slot: 'A1', mib: memoryGb * 1024, type: 'DDR4' }],
    disks: [1, 2].map((nth) => ({
      ...{ serial: `${serial}-${nth}`, model: 'M', firmware: '1', kind: 'nvme', healthy: true },
      bytes: diskGb * 1e9,
    })),
    ports: [{ name: 'eth0', mac: '52:54:00:00:00:01', linked: true, ...(speedMbps && { speedMbps }) }],
    bmc: { firmware: '1', address: '192.0.2.7', mac: '52:54:00:00:00:02' },
  };
}

/** A cart with one such server. */
export function serverCart(productId: number, change: Record<string, unknown> = {}) {
  const options = {
    ...{ option1: 64, option2: 1_920, option4: 1, option5: 0, option6: 'tiny', option7: '1gbit' },
    ...{ option8: 'AMS', domain: 'big.example.com', password: 'Canary-Pass-1', ...change },
  };
  return { products: [{ id: productId, cycle: 'monthly', type: 'Hosting', options }] };
}

/** Gives a server to whoever has paid it, where there is no network that it could start its installer from, so that nobody waits for that. */
export async function handOver(product: TestProduct, serviceId: number): Promise<void> {
  await until(
    () =>
      sql(
        product,
        `update jobs set state = 'done', finished_at = now()
         where name = 'dedicated.provision' and state = 'ready' and payload->>'serviceId' = $1 returning id`,
        String(serviceId),
      ),
    (ended) => ended.length > 0,
  );
  await transaction(product.ctx, 'test.handOver', async (tx) => {
    const order = await requireOrder(tx, serviceId);
    await completeDelivery(tx, order, { hostname: order.domain, primaryIp: null });
    await rentServer(tx, serviceId);
  });
}
