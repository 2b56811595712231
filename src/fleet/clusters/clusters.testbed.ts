import { certificates, clusterBody } from '../../../test/clusters.ts';
import { startTestProduct, type TestOptions, type TestProduct, until } from '../../../test/product.ts';
import { type SimulatedCluster, simulatedCluster } from '../../../test/simulatedCluster.ts';
import { speaking, standIn } from '../../drivers/hypervisor/incus/standIn.testbed.ts';

/** A product beside a cluster of simulated members, which answers on loopback with a certificate of its own. */
export interface ClusterBed {
  product: TestProduct;
  simulated: SimulatedCluster;
  keys: Awaited<ReturnType<typeof certificates>>;
  endpoint: string;
  /** Somebody else, who presents another certificate. */
  stranger: string;
  body(more?: object): ReturnType<typeof clusterBody>;
  /** Adds it, and waits until it was looked at. */
  add(more?: object): Promise<ClusterSeen>;
  read(id: number): Promise<ClusterSeen>;
  checked(id: number): Promise<ClusterSeen>;
  /** Its nodes by name, once `check` holds. */
  nodes(check: (nodes: NodeSeen[]) => boolean): Promise<NodeSeen[]>;
  stop(): Promise<void>;
}

/** As the API shows them. */
// biome-ignore lint/suspicious/noExplicitAny: answers are held against their schema where they are sent
export type ClusterSeen = any;
// biome-ignore lint/suspicious/noExplicitAny: the same
export type NodeSeen = any;

export async function clusterBed(members: readonly string[], options: TestOptions = {}): Promise<ClusterBed> {
  const keys = await certificates();
  const simulated = simulatedCluster(members);
  const [right, wrong] = await Promise.all([
    standIn(keys.cluster, speaking({})),
    standIn(keys.other, speaking({})),
  ]);
  const product = await startTestProduct({
    ...options,
    env: { CLUSTER_ALLOW: '127.0.0.1', ...options.env },
    drivers: { openCluster: simulated.open, ...options.drivers },
  });
  const read = async (id: number) => (await product.staff.get(`/staff/clusters/${id}`)).body.data.cluster;
  const checked = (id: number) =>
    until(
      () => read(id),
      ({ check }) => check.state !== 'checking',
    );
  const body = (more: object = {}) => clusterBody(keys, [right.url], more);
  return {
    ...{ product, simulated, keys, endpoint: right.url, stranger: wrong.url, body, read, checked },
    add: async (more) => {
      const { status, body: answer } = await product.staff.post('/staff/clusters', body(more));
      if (status !== 200) throw new Error(JSON.stringify(answer));
      return checked(answer.data.cluster.id);
    },
    nodes: (check) =>
      until(async () => {
        const { body: answer } = await product.staff.get('/staff/nodes?sort=name&limit=100');
        return answer.data.nodes.filter((node: NodeSeen) => node.cluster_id !== null);
      }, check),
    stop: async () => {
      await product.stop();
      right.close();
      wrong.close();
    },
  };
}
