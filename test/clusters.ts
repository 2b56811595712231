import type { certificates } from '../src/drivers/hypervisor/incus/standIn.testbed.ts';

export { certificates } from '../src/drivers/hypervisor/incus/standIn.testbed.ts';

type Keys = Awaited<ReturnType<typeof certificates>>;

/** What staff sends to add a cluster that presents the first of these certificates, and knows us by the last. */
export function clusterBody({ cluster, ours }: Keys, endpoints: readonly string[], more: object = {}) {
  return {
    ...{ name: 'ams1', engine: 'incus', location: 'AMS', endpoints },
    server_certificate: cluster.certificate,
    credential: ours,
    ...{ project: 'innkeeper', pool: 'local', bridge: 'br0' },
    ...more,
  };
}
