import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runAsRoot } from '../src/platform/host/program.ts';
import { greetsBySsh } from '../src/platform/host/ssh.ts';
import { apiClient } from '../test/client.ts';
import { ensureTestInstaller } from '../test/images.ts';
import { until } from '../test/product.ts';
import { startBmc } from '../test/rack/bmc.ts';
import { openRack } from '../test/rack/netboot.ts';
import { openRackNetwork } from '../test/rack/network.ts';
import { buildServer, type Disk } from '../test/rack/server.ts';
import { newDedicated, orderDedicated, stockServer } from '../test/rack/stocked.ts';
import { ensureRackTree } from '../test/rack/tree.ts';
import { programIn, surroundings } from '../test/unpacked.ts';
import { freePort } from '../test/valkey.ts';
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
  const network = await openRackNetwork(92);
  undo.push(() => network.close());
  const bmcAddress = `${network.subnet}2`;
  for (const each of [`${bmcAddress}/24`, `${network.subnet}65/27`])
    await runAsRoot(['ip', 'address', 'add', each, 'dev', network.bridge]);
  const mac = '52:54:00:be:ef:92';
  const server = await buildServer(path.join(dir, 'server'), tree, {
    ...{ disks: disks('A'), network: await network.port(mac), serial: 'R1-0092' },
  });
  const [program, guestPort] = [path.join(dir, 'start'), await freePort()];
  const argv = server
    .commandLine('SERIAL', guestPort)
    .map((each) => `'${each}'`.replace('SERIAL', `'"$RACK_RUN"'/serial`));
  await writeFile(program, `#!/bin/sh\nif [ "$1" = start ]; then exec ${argv.join(' ')}; fi\n`, {
    mode: 0o755,
  });
  const bmc = await startBmc(tree, {
    ...{ server: program, guestPort, address: bmcAddress, port: 623, serial: 'R1-0092' },
  });
  undo.push(() => bmc.close());
  const programs: RackPrograms = {
    ipmi: bmc.ipmi,
    netboot: { program: programIn(tree, 'dnsmasq'), env: surroundings(tree) },
  };
  const env = {
    ...{ HYPERVISOR: 'simulator', IMAGES_DIR: images, RACK_INTERFACE: network.bridge, RACK_PORT: '0' },
    ...{ RACK_ADDRESSES: `${network.subnet}100-${network.subnet}150`, BENCH_RACK: JSON.stringify(programs) },
  };
  const house = await openHouse(dir, env, [process.execPath, path.join(root, 'bench/rackProduct.ts')]);
  const access = await openAccess(house);
  undo.push(() => access.close());
  const { staff: keeper, customer } = house.demo;
  const staff = apiClient(`${house.url}/api`, { token: keeper.api_key });
  const client = apiClient(`${house.url}/api`, {
    ...{ token: customer.api_key, organizationId: customer.organization_id },
  });
  await staff.post('/staff/address-pools', {
    ...{ name: 'rack', location: 'RCK', network: `${network.subnet}64/27` },
  });
  await staff.post(`/staff/organizations/${customer.organization_id}/credit`, {
    ...{ amount: '10000.00', currency: 'EUR', description: 'For the bench' },
  });
  const product = { ctx: access.ctx, staff, databaseUrl: house.databaseUrl };
  const productId = await newDedicated(product, 'R1');
  const serverId = await stockServer(product, 'R1', {
    ...{ name: 'bench-92', mac, location: 'RCK' },
    bmc: { address: bmcAddress, port: 623, user: 'root', password: 'factory-1' },
    disks: disks('A').map(({ serial }) => ({ serial, bytes: mib * 2 ** 20, kind: 'nvme' })),
  });
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
