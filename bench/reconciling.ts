import { tmpdir } from 'node:os';
import { incusCluster } from '../src/drivers/hypervisor/incus/driver.ts';
import { certificates, standIn } from '../src/drivers/hypervisor/incus/standIn.testbed.ts';
import type { Cluster } from '../src/drivers/hypervisor/index.ts';
import { createClusterReconciler } from '../src/vps/index.ts';
import { interleave, spreadOf } from './measure.ts';
import { firstId } from './people.ts';
import { fillNodes, type Nodes, type Shop } from './samples.ts';
import type { Figure } from './table.ts';

export interface ReconcilingOptions {
  rounds: number;
  /** Machines of the small cluster and of the large one. */
  few: number;
  many: number;
  members: number;
}

interface Reconciled {
  /** One comparison of all its machines with what they should be. */
  turn(): Promise<number>;
  /** The same when its members say what they said, and all was well. */
  rest(): Promise<number>;
  close(): Promise<void>;
}

/**
 * What it takes to ask a cluster of Incus for all machines and to compare them, none of which differs, against a tenth of them. The real
 * driver speaks over TLS to a stand-in that answers from memory.
 */
export async function measureReconciling(shop: Shop, options: ReconcilingOptions): Promise<Figure[]> {
  const few = await reconciled(shop, options.few, options.members, 5);
  const many = await reconciled(shop, options.many, options.members, 6);
  const turns = await interleave(options.rounds, many.turn, few.turn);
  const rests = await interleave(options.rounds, many.rest, few.rest);
  await few.close();
  await many.close();
  const [ofFew, ofMany] = [options.few, options.many].map((count) => count.toLocaleString('en'));
  const ms = (all: readonly number[]) => `${spreadOf(all).median.toFixed(0)} ms`;
  return [
    {
      name: `Reconciling ${ofMany} machines on ${options.members} members of a cluster`,
      against: `${ofFew} machines`,
      value: spreadOf(turns.map(({ ours, theirs }) => ours / theirs)),
      unit: 'ratio',
      target: { atMost: 12 },
      amounts: `${ms(turns.map(({ ours }) => ours))} against ${ms(turns.map(({ theirs }) => theirs))}; ${ms(rests.map(({ ours }) => ours))} while nothing differs from the turn before`,
      limit: 'reading what the engine says of each, and each machine of the database',
    },
  ];
}

async function reconciled(shop: Shop, count: number, members: number, nth: number): Promise<Reconciled> {
  const filled = await fillNodes(shop, {
    ...{ count, firstServiceId: nth * firstId, named: `reconciled-${count}-`, perNode: count / members },
  });
  const nodes = filled.ids.map((id, at) => ({ id, member: `n${at + 1}` }));
  const { cluster, close } = await clusterOf(shop, filled, count, members);
  const timed = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const known = createClusterReconciler(shop.access.ctx, cluster);
  await known(nodes);
  return {
    turn: () => timed(() => createClusterReconciler(shop.access.ctx, cluster)(nodes)),
    rest: () => timed(() => known(nodes)),
    close,
  };
}

async function clusterOf({ access }: Shop, filled: Nodes, count: number, members: number) {
  const keys = await certificates();
  const ids = Array.from({ length: count }, (_, at) => `vps-${filled.firstServiceId + at + 1}`);
  const answers: Record<string, Buffer> = {
    '/1.0/profiles': answerOf(ids.map(profileOf)),
    '/1.0/instances': answerOf(
      ids.map((id, at) => instanceOf(id, `n${1 + Math.floor((at * members) / count)}`)),
    ),
  };
  const stand = await standIn(keys.cluster, (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(answers[request.url?.split('?')[0] ?? ''] ?? answerOf(null));
  });
  const cluster: Cluster = incusCluster({
    endpoints: [stand.url],
    serverCertificate: keys.cluster.certificate,
    certificate: keys.ours.certificate,
    key: keys.ours.key,
    ...{ project: 'innkeeper', pool: 'local', bridge: 'br0', member: null, imagesDir: tmpdir() },
    log: access.ctx.log,
  });
  return {
    cluster,
    close: async () => {
      await cluster.close();
      stand.close();
    },
  };
}

function answerOf(metadata: unknown): Buffer {
  return Buffer.from(JSON.stringify({ type: 'sync', status_code: 200, metadata }));
}

/** As long as those that Incus 6.0 tells of machines of ours. */
function profileOf(id: string): object {
  const identity = JSON.stringify({ hostname: 'guest.example.com', nameservers: ['192.0.2.53'] });
  const config = { 'limits.cpu': '1', 'limits.memory': '1024MiB', 'user.innkeeper.machine': id };
  const devices = { root: { type: 'disk', path: '/', pool: 'local', size: '10GiB' }, eth0: { type: 'nic' } };
  return { name: `machine-${id}`, config: { ...config, 'user.innkeeper.identity': identity }, devices };
}

function instanceOf(name: string, location: string): object {
  const network = {
    ...{
      addresses: [],
      counters: { bytes_received: 1, bytes_sent: 1, packets_received: 1, packets_sent: 1 },
    },
    ...{ hwaddr: '52:54:00:77:00:01', host_name: 'tap12345678', mtu: 1500, state: 'up', type: 'broadcast' },
  };
  const state = {
    status: 'Running',
    pid: 4711,
    started_at: '2026-01-01T00:00:00Z',
    network: { eth0: network },
  };
  const config = { 'volatile.uuid': name, 'volatile.eth0.host_name': 'tap12345678', 'image.os': 'Debian' };
  const expanded = { expanded_config: config, expanded_devices: { root: { type: 'disk', path: '/' } } };
  return { name, location, status: 'Running', profiles: [`machine-${name}`], config, ...expanded, state };
}
