import { describeCluster } from '../src/drivers/hypervisor/clusterConformance.ts';
import type { ClusterConnection } from '../src/drivers/hypervisor/index.ts';
import { smallMachine, someIdentity } from '../src/drivers/hypervisor/simulator/testbed.ts';
import { createLog } from '../src/platform/index.ts';
import { simulatedCluster } from './simulatedCluster.ts';

const connection: ClusterConnection = {
  ...{ engine: 'incus', endpoints: [], serverCertificate: '', fingerprints: [], certificate: '', key: '' },
  ...{ project: '', pool: '', bridge: '' },
};

describeCluster('a simulated cluster', async () => {
  const simulated = simulatedCluster(['n1', 'n2']);
  const opened = () => simulated.open(connection, { imagesDir: '', log: createLog('silent') });
  return {
    ...{ cluster: opened(), other: opened(), members: ['n1', 'n2'] },
    image: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    ...{ identity: someIdentity, spec: smallMachine, readyTimeoutMs: 1_000 },
    ...{ nameOf: null, bootOf: null },
    leftovers: async ({ id }) =>
      [...simulated.members].filter(([, { store }]) => store.machines.has(id)).map(([name]) => name),
    remove: async () => undefined,
  };
});
