import {
  type Cluster,
  type ClusterFindings,
  HypervisorError,
  type MemberReport,
  type OpenCluster,
  type SimulatedHypervisor,
  simulatedHypervisor,
} from '../src/drivers/hypervisor/index.ts';

/** A cluster whose members are simulated nodes, for tests of the rules; its endpoint is somebody's who presents the right certificate. */
export interface SimulatedCluster {
  open: OpenCluster;
  /** By its name; one that is not there any more has left. */
  members: Map<string, SimulatedMember>;
  /** Whether it can be reached. */
  isReachable: boolean;
  findings: ClusterFindings;
  /** Connections that were opened and are not closed. */
  opened: { key: string; project: string }[];
  hypervisor(member: string): SimulatedHypervisor;
}

interface SimulatedMember {
  hypervisor: SimulatedHypervisor;
  answers: boolean;
  troubles: string[];
  address: string | null;
  cpuCores: number;
  /** Whether it has the storage pool, without which it does not say how large it is. */
  hasPool: boolean;
}

const capabilities = ['snapshots', 'serial'] as const;

export function simulatedCluster(names: readonly string[]): SimulatedCluster {
  const cluster: SimulatedCluster = {
    open,
    members: new Map(names.map((name) => [name, newMember(name)])),
    isReachable: true,
    findings: { version: '6.0.4', tested: 'tested', members: [...names], problems: [] },
    opened: [],
    hypervisor: (member) => (cluster.members.get(member) as SimulatedMember).hypervisor,
  };
  return cluster;

  function open({ key, project }: Parameters<OpenCluster>[0]): Cluster {
    const connection = { key, project };
    cluster.opened.push(connection);
    const reach = () => {
      if (!cluster.isReachable)
        throw new HypervisorError('host_not_ready', 'the cluster cannot be reached', { waits: true });
    };
    const hosts = () => [...cluster.members].filter(([, { answers }]) => answers);
    return {
      kind: 'incus',
      capabilities,
      look: async () => {
        reach();
        return cluster.findings;
      },
      nodes: async () => {
        reach();
        return [...cluster.members].map(([name, member]) => reportOf(name, member));
      },
      on: (name) => reached(name),
      ensureImage: async (image, progress) => {
        reach();
        for (const { hypervisor } of cluster.members.values()) await hypervisor.ensureImage(image, progress);
      },
      list: async () => {
        reach();
        const lists = hosts().map(async ([name, { hypervisor }]) =>
          (await hypervisor.list()).map((report) => ({ ...report, node: name })),
        );
        return (await Promise.all(lists)).flat();
      },
      sample: async () => {
        reach();
        return (await Promise.all(hosts().map(([, { hypervisor }]) => hypervisor.sample()))).flat();
      },
      listen: async () => reach(),
      watch: (listener) => {
        const stops = [...cluster.members.values()].map(({ hypervisor }) => hypervisor.watch(listener));
        return () => {
          for (const stop of stops) stop();
        };
      },
      close: async () => void cluster.opened.splice(cluster.opened.indexOf(connection), 1),
    };
  }

  /** A member through the cluster: nothing of it is to be had while that, or the member, does not answer. */
  function reached(name: string): SimulatedHypervisor {
    return new Proxy({} as SimulatedHypervisor, {
      get: (_, method: keyof SimulatedHypervisor) => {
        const { hypervisor } = cluster.members.get(name) ?? newMember(name);
        const found = hypervisor[method];
        if (typeof found !== 'function') return found;
        return async (...given: unknown[]) => {
          if (!cluster.isReachable || cluster.members.get(name)?.answers !== true)
            throw new HypervisorError('host_not_ready', `${name} cannot be reached`, { waits: true });
          return (found as (...args: unknown[]) => unknown)(...given);
        };
      },
    });
  }
}

function newMember(name: string): SimulatedMember {
  const hypervisor = simulatedHypervisor({ capabilities });
  return {
    hypervisor,
    answers: true,
    troubles: [],
    address: `https://${name}:8443`,
    cpuCores: 8,
    hasPool: true,
  };
}

function reportOf(
  name: string,
  { address, answers, cpuCores, hasPool, ...member }: SimulatedMember,
): MemberReport {
  const capacity = { cpuCores, memoryMib: 65_536, diskGib: 1_000, acceleration: 'none' } as const;
  const troubles = hasPool
    ? member.troubles
    : [...member.troubles, `There is no storage pool local on ${name}`];
  return { name, address, answers, troubles, capacity: answers && hasPool ? capacity : null };
}
