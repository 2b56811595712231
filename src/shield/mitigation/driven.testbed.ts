import { startTestProduct, type TestOptions, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { EdgeError, type MemoryEdge, memoryEdge, type Packet } from '../../drivers/edge/index.ts';
import { packet, type Tenant } from '../testbed.ts';
import { createWatcher } from '../watch/watcher.ts';

/** A product whose packets and seconds come when a test says so. */
export interface DrivenProduct extends TestProduct {
  edge: MemoryEdge;
  nodeId: number;
  /** Passes each packet so many times, lets a second go by and has it looked at. Answers how many of each got through. */
  second(...sent: [Packet, number][]): Promise<number[]>;
  /** The same again and again; what got through in the last of them. */
  seconds(count: number, ...sent: [Packet, number][]): Promise<number[]>;
  /** Another process looks after the node from now on. */
  restart(edge?: MemoryEdge): void;
}

export async function startDriven(drivers: TestOptions['drivers'] = {}): Promise<DrivenProduct> {
  const product = await startTestProduct({ env: { EDGE: 'none' }, drivers });
  const newEdge = () => memoryEdge({ now: () => product.clock.now().getTime() });
  const [node] = await sql<{ id: number }>(product, 'select id from nodes order by id limit 1');
  const nodeId = Number(node?.id);
  const driven = { edge: newEdge() };
  const watcher = () =>
    createWatcher(
      product.ctx,
      nodeId,
      () => driven.edge,
      () => drivers.routers ?? noRouters(),
    );
  let watch = watcher();
  const second: DrivenProduct['second'] = async (...sent) => {
    const through = sent.map(([each, times]) => {
      let passed = 0;
      for (let nth = 0; nth < times; nth += 1) passed += driven.edge.pass(each) ? 1 : 0;
      return passed;
    });
    product.clock.travel(1_000);
    await watch();
    return through;
  };
  return Object.assign(driven, product, {
    nodeId,
    second,
    async seconds(count: number, ...sent: [Packet, number][]) {
      let last: number[] = [];
      for (let nth = 0; nth < count; nth += 1) last = await second(...sent);
      return last;
    },
    restart(edge: MemoryEdge = driven.edge) {
      driven.edge = edge;
      watch = watcher();
    },
  });
}

/** Of a process that speaks to no routers. */
export function noRouters(): never {
  throw new EdgeError('nothing_filters', 'no routers', { permanent: true });
}

/** A packet of UDP that some service reflects: from port 123 unless it says otherwise. */
export function reflected(destination: string, source = 123, length = 468): Packet {
  return packet(destination, {
    ...{ protocol: 17, ports: { source, destination: 9 }, flags: null, length },
    source: destination.includes(':') ? '2001:db8:66::1' : '192.0.2.66',
  });
}

/** Has attacks on an address met, from so many packets a second on. */
export async function defended(
  tenant: Tenant,
  change: Record<string, unknown> = {},
  address = tenant.address,
) {
  const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other'];
  const thresholds = Object.fromEntries(kinds.map((kind) => [kind, { pps: 100, mbps: 1_000 }]));
  const { status, body } = await tenant.patch(`/shield/v2/sensitivity/${address}`, {
    ...{ mode: 'enabled', thresholds },
    ...change,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

export async function newestAttack(tenant: Tenant) {
  const { body } = await tenant.get('/shield/v2/attacks');
  return body.data.attacks[0];
}
