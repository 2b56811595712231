import path from 'node:path';
import { greetsBySsh } from '../src/platform/host/ssh.ts';
import { apiClient } from '../test/client.ts';
import { ensureTestInstaller } from '../test/images.ts';
import { until } from '../test/product.ts';
import { openRack } from '../test/rack/netboot.ts';
import { openRacked } from '../test/rack/racked.ts';
import type { Disk } from '../test/rack/server.ts';
import { newDedicated, orderDedicated, stockServer } from '../test/rack/stocked.ts';
import { ensureRackTree } from '../test/rack/tree.ts';
import { openHouse, root, temporaryDir, undo } from './house.ts';
import { interleave, nowMs, type Pair, ratiosOf, spreadOf } from './measure.ts';
import { openAccess } from './people.ts';
import type { RackPrograms } from './rackProduct.ts';
import type { Figure } from './table.ts';

const mib = 192;
const disks = (nth: string): Disk[] =>
  [1, 2].map((at) => ({ serial: `NVME-${nth}${at}`, kind: 'nvme', mib }));
const patienceMs = 900_000;
const pollMs = 100;

/** A paid server until SSH greets, against the same machine started, wiped and installed by a script that does nothing else. Minutes each. */
export async function measureDelivery(rounds: number): Promise<Figure[]> {
  const tree = await ensureRackTree();
  const images = await ensureTestInstaller(['tiny'], () => undefined);
  const ours = await productWith(tree, images);
  const pairs: Pair[] = await interleave(rounds, ours, () => bare(tree, images));
  const seconds = (which: keyof Pair) =>
    Math.round(spreadOf(pairs.map((pair) => pair[which])).median / 1_000);
  return [
    {
      name: 'Dedicated server: paid → SSH',
      against: 'the same machine installed by a bare script',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atMost: 1.1 },
      amounts: `${seconds('ours')} s against ${seconds('theirs')} s, emulated: BIOS, two NVMe disks of ${mib} MiB as RAID1, the small system`,
      limit: 'the machine, which starts twice; then BMC and serial line, which a script needs not ask',
    },
  ];
}

/** Started, and given its plan as soon as its nonce was read: no BMC, no order, no database. */
async function bare(tree: string, images: string): Promise<number> {
  const rack = await openRack({ number: 91, tree, installer: images, disks: disks('B') });
  try {
    await rack.netboot.reserve(rack.mac, rack.address);
    rack.desk.image = { file: rack.tree.file };
    rack.desk.plan = rack.installs(disks('B').map(({ serial }) => serial));
    const beganMs = nowMs();
    rack.server.on();
    await until(async () => rack.told('done').length + rack.told('failed').length, Boolean, patienceMs);
    if (rack.told('failed').length > 0) throw new Error(JSON.stringify(rack.told('failed')));
    rack.starts = 'disk';
    await greets(rack.address);
    return nowMs() - beganMs;
  } finally {
    await rack.close();
  }
}

async function greets(address: string): Promise<void> {
  const endMs = nowMs() + patienceMs;
  while (!(await greetsBySsh(address))) {
    if (nowMs() > endMs) throw new Error(`no SSH at ${address}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** A product with a server behind a BMC. What it gives orders one, pays it and says how long it took until it is active; then it comes back. */
async function productWith(tree: string, images: string): Promise<() => Promise<number>> {
  const dir = await temporaryDir();
  const racked = await openRacked(dir, { number: 92, tree, images, disks: disks('A') });
  undo.push(() => racked.close());
  const programs: RackPrograms = { ipmi: racked.bmc.ipmi, netboot: racked.netboot };
  const env = { ...racked.env, BENCH_RACK: JSON.stringify(programs) };
  const house = await openHouse(dir, env, [process.execPath, path.join(root, 'bench/rackProduct.ts')]);
  const access = await openAccess(house);
  undo.push(() => access.close());
  const { staff: keeper, customer } = house.demo;
  const staff = apiClient(`${house.url}/api`, { token: keeper.api_key });
  const client = apiClient(`${house.url}/api`, {
    ...{ token: customer.api_key, organizationId: customer.organization_id },
  });
  await staff.post('/staff/address-pools', racked.customers);
  await staff.post(`/staff/organizations/${customer.organization_id}/credit`, {
    ...{ amount: '10000.00', currency: 'EUR', description: 'For the bench' },
  });
  const product = { ctx: access.ctx, staff, databaseUrl: house.databaseUrl };
  const productId = await newDedicated(product, 'R1');
  const serverId = await stockServer(product, 'R1', racked.stocked);
  await until(
    async () => (await staff.get('/staff/enrolment')).body.data.enrolment.networks[0]?.is_served === true,
    Boolean,
    patienceMs,
  );
  const becomes = async (state: string) =>
    until(
      async () => (await staff.get(`/staff/servers/${serverId}`)).body.data.server,
      (found) => found.state === state || found.state === 'quarantined',
      patienceMs,
    );
  return async () => {
    const { serviceId } = await orderDedicated(client, productId);
    const beganMs = nowMs();
    const service = await until(
      async () => (await client.get(`/dashboard/services/${serviceId}`)).body.data.service,
      ({ provisioning_state: state }) => state === 'done' || state === 'failed',
      patienceMs,
    );
    const tookMs = nowMs() - beganMs;
    if (service.status !== 'active') throw new Error(JSON.stringify((await becomes('rented')).reason));
    await client.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
    const back = await becomes('ready');
    if (back.state !== 'ready') throw new Error(back.reason);
    return tookMs;
  };
}
