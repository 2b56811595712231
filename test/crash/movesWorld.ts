import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenId, tokenSecret } from '../../src/drivers/hypervisor/proxmox/standIn/state.testbed.ts';
import { makeImage, type ProxmoxBed, proxmoxBed } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { ask, type Order, order, pay, type Scenario, scenario } from './scenarios.ts';
import { openWorld, type World } from './world.ts';

/** A product that may die at any moment beside a cluster of two members, which lives on in the process of the test. */
export interface MovesWorld {
  world: World;
  /** An evacuation that takes the machine away while it runs, and one for which it is shut down: it has a snapshot, which its engine moves only so. */
  scenarios: { live: Scenario; cold: Scenario };
  /** A machine of the product's own host that goes into the cluster, another each time. */
  intoCluster: Scenario;
  stop(): Promise<void>;
}

const members = ['n1', 'n2'];

/** `network` tells files apart that run side by side: guests answer on SSH at 127.77.<network>.x of this host. */
export async function openMovesWorld(network: number, env: Record<string, string> = {}): Promise<MovesWorld> {
  const bed = await proxmoxBed(network);
  bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
  for (const [slug, recipe] of [
    ['tiny', 'tiny'],
    ['debian', 'debian-12'],
  ] as const)
    await makeImage(bed.options.imagesDir, { slug, kind: 'build', recipe });
  const world = await openWorld({
    env: {
      ...{ CLUSTER_ALLOW: '127.0.0.1', SECRET_KEY: Buffer.alloc(32, 7).toString('base64') },
      ...{ NETWORK4: `10.77.${network}.0/24`, IMAGES_DIR: bed.options.imagesDir, ...env },
    },
    auditMachines: (databaseUrl) => auditCluster(databaseUrl, bed),
  });
  const stop = async () => {
    await world.stop();
    bed.remove();
  };
  try {
    return { world, scenarios: await furnish(world, bed), intoCluster: departing(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function furnish(world: World, bed: ProxmoxBed): Promise<MovesWorld['scenarios']> {
  // Guests that stand in answer SSH on addresses of this host, which nobody may have as a pool.
  await sql(
    world,
    `update addresses set address = '127.0.0.0'::inet + (address - '10.0.0.0'::inet) where family(address) = 4`,
  );
  await sql(
    world,
    `update address_pools set network = set_masklen('127.0.0.0'::inet + (host(network)::inet - '10.0.0.0'::inet), 24)::cidr,
       gateway = '127.0.0.0'::inet + (gateway - '10.0.0.0'::inet) where family = 4`,
  );
  await ask(
    world.staff.post('/staff/clusters', {
      ...{ name: 'pve', engine: 'proxmox', location: 'AMS', endpoints: [bed.stand.url] },
      server_certificate: bed.options.fingerprints.join('\n'),
      credential: { token_id: tokenId, token_secret: tokenSecret },
      ...{ project: 'innkeeper', pool: 'local-lvm', files: 'files', bridge: 'vmbr0' },
    }),
  );
  await until(
    () => nodesOf(world),
    (all) => all.length === 3,
    60_000,
  );
  await until(
    async () => (await world.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
    60_000,
  );
  const [own] = (await nodesOf(world)).filter(({ cluster_id: cluster }) => cluster === null);
  await ask(world.staff.patch(`/staff/nodes/${own?.id}`, { state: 'draining' }));
  const machine = await order(world);
  await pay(world, machine);
  await until(
    () => world.customer.get(`/dashboard/services/${machine.serviceId}`),
    ({ body }) => body.data.service.status === 'active',
    120_000,
  );
  await world.settle();
  return { live: evacuating(bed, machine, 'live'), cold: evacuating(bed, machine, 'cold') };
}

interface NodeSeen {
  id: number;
  name: string;
  cluster_id: number | null;
  machines: number;
}

async function nodesOf(world: World): Promise<NodeSeen[]> {
  return (await world.staff.get('/staff/nodes?sort=name')).body.data.nodes;
}

interface Given {
  from: NodeSeen;
  machine: Order;
}

function evacuating(bed: ProxmoxBed, machine: Order, how: 'live' | 'cold'): Scenario {
  const id = `vps-${machine.serviceId}`;
  return scenario<Given, number>(
    `an evacuation, ${how}`,
    async (world) => {
      const vm = bed.vm(id);
      if (vm === undefined) throw new Error(`${id} is gone`);
      const path = `/dashboard/service/${machine.serviceId}/vps/snapshots`;
      const kept = (await world.customer.get(path)).body.data.snapshots.length > 0;
      if ((how === 'cold') !== kept) {
        await ask(
          how === 'cold'
            ? world.customer.post(path, { name: 'kept' })
            : world.customer.delete(`${path}/kept`),
        );
        await world.settle();
      }
      const nodes = await nodesOf(world);
      for (const node of nodes.filter(({ name }) => members.some((member) => name === `pve/${member}`)))
        await ask(world.staff.patch(`/staff/nodes/${node.id}`, { state: 'active' }));
      const from = nodes.find(({ name }) => name === `pve/${vm.node}`);
      if (from === undefined) throw new Error(`${vm.node} is no node`);
      return { from, machine };
    },
    async (world, { from }) => {
      await ask(world.staff.post(`/staff/nodes/${from.id}/evacuate`, { cold: true }));
      return from.id;
    },
    async (world, _given, node) => {
      const { machines } = await until(
        async () => (await world.staff.get(`/staff/nodes/${node}/evacuation`)).body.data.evacuation,
        ({ state }) => state !== 'running',
        180_000,
      );
      const [move] = machines;
      if (move?.state !== 'moved' || (how === 'cold' && !(move.away_s >= 0 && move.live === false)))
        throw new Error(`the machine did not move as it should: ${JSON.stringify(machines)}`);
    },
  );
}

function departing(): Scenario {
  let before: number | null = null;
  return scenario<{ machine: Order; host: number; cluster: number }, number>(
    'a machine of the own host goes into the cluster',
    async (world) => {
      // Another each time, or the cluster would have no room left.
      if (before !== null)
        await ask(world.staff.post(`/staff/services/${before}/terminate`, { reason: 'another comes' }));
      before = null;
      const nodes = await nodesOf(world);
      const host = nodes.find(({ cluster_id: cluster }) => cluster === null);
      const cluster = nodes.find((each) => each.cluster_id !== null)?.cluster_id;
      if (host === undefined || cluster == null) throw new Error('there is no host or no cluster');
      for (const { id } of nodes)
        await ask(world.staff.patch(`/staff/nodes/${id}`, { state: id === host.id ? 'active' : 'draining' }));
      const machine = await order(world);
      await pay(world, machine);
      await until(
        () => world.customer.get(`/dashboard/services/${machine.serviceId}`),
        ({ body }) => body.data.service.status === 'active',
        120_000,
      );
      await world.settle();
      for (const { id } of nodes) await ask(world.staff.patch(`/staff/nodes/${id}`, { state: 'active' }));
      return { machine, host: host.id, cluster };
    },
    async (world, { machine, host, cluster }) => {
      const body = { cluster_id: cluster, service_ids: [machine.serviceId], cold: true };
      await ask(world.staff.post(`/staff/nodes/${host}/evacuate`, body));
      return host;
    },
    async (world, { machine }, host) => {
      const { machines } = await until(
        async () => (await world.staff.get(`/staff/nodes/${host}/evacuation`)).body.data.evacuation,
        ({ state }) => state !== 'running',
        180_000,
      );
      const [move] = machines;
      if (move?.state !== 'moved' || move.reason !== null || !(move.away_s >= 0))
        throw new Error(`the machine did not go as it should: ${JSON.stringify(machines)}`);
      const left = readFileSync(join(world.dataDir, 'simulator.json'), 'utf8');
      if (left.includes(`vps-${machine.serviceId}`)) throw new Error('its host still has something of it');
      before = machine.serviceId;
    },
  );
}

/** Each machine is once in the cluster, where it and its room are written down, as on as it is wanted, and without secrets or leftovers. */
async function auditCluster(databaseUrl: string, bed: ProxmoxBed): Promise<string[]> {
  const rows = await sql<{
    id: string;
    node: string;
    room: string;
    wanted: string;
    state: string;
    locked: boolean;
  }>(
    { databaseUrl },
    `select 'vps-' || m.service_id || case when m.incarnation > 1 then '-' || m.incarnation else '' end as id, n.member as node, r.member as room, m.wanted, m.state,
       exists (select 1 from vps_actions a where a.service_id = m.service_id and a.status in ('queued', 'running')) as locked
     from machines m join nodes n on n.id = m.node_id join placements p on p.service_id = m.service_id join nodes r on r.id = p.node_id`,
  );
  const found: string[] = [...bed.stand.refusedBySchema];
  const vms = [...bed.state.vms.values()];
  for (const row of rows) {
    const mine = vms.filter(({ settings }) => settings.name === row.id);
    const seen = mine.map(({ node, running }) => ({ node, power: running ? 'running' : 'stopped' }));
    const should = [{ node: row.node, power: row.wanted }];
    if (JSON.stringify(seen) !== JSON.stringify(should))
      found.push(`${row.id} is ${JSON.stringify(seen)} and should be ${JSON.stringify(should)}`);
    if (row.room !== row.node) found.push(`${row.id} is on ${row.node} and has its room on ${row.room}`);
    if (row.state !== row.wanted || row.locked) found.push(`${row.id} is left as ${JSON.stringify(row)}`);
    const discs = [...bed.state.files.keys()].filter((key) => key.includes(`-${row.id}-`));
    if (discs.length > 1 || discs.some((key) => !key.startsWith(`${row.node} `)))
      found.push(`${row.id} has discs that nobody reads: ${discs.join(', ')}`);
  }
  const others = vms.filter(({ settings }) => !rows.some(({ id }) => id === settings.name));
  return [...found, ...others.map(({ vmid }) => `nobody knows the machine ${vmid}`)];
}
