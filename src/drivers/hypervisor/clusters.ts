import type { Cluster, ClusterConnection, ClusterFindings } from './cluster.ts';
import { type Hypervisor, HypervisorError } from './contract.ts';
import type { OpenCluster } from './openCluster.ts';
import { fingerprintOf, presentedAt } from './presented.ts';

/** A cluster that this process is to drive. */
export interface WantedCluster {
  id: number;
  name: string;
  /** Another whenever it is reached in another way. */
  generation: number;
  connection: ClusterConnection;
  nodes: { id: number; member: string }[];
}

/** How a cluster is to be found that nobody has spoken to yet: it proves itself by the fingerprints of its certificates. */
export type Unseen = ClusterConnection extends infer Each
  ? Each extends ClusterConnection
    ? Omit<Each, 'serverCertificate'>
    : never
  : never;

/** What was found there; with the certificate, once it was the right one. */
export interface LookedAt extends ClusterFindings {
  serverCertificate: string | null;
  /** What is no problem and still to be known. */
  notes: string[];
}

/** The clusters that a process drives. They are opened when they are wanted, and anew when they are reached in another way. */
export interface Clusters {
  /** From now on these are driven and no others. */
  follow(wanted: readonly WantedCluster[]): Promise<void>;
  /** Fails (`waits`) where this process does not drive it. */
  of(clusterId: number): Cluster;
  /** What runs the machines of a member; null when it is none of a cluster that is driven here. */
  onNode(nodeId: number): Hypervisor | null;
  isEmpty(): boolean;
  /** Whether `of` was asked for one that is not driven here, since they were followed last. */
  isMissed(): boolean;
  /** Speaks to a cluster that may not be fit to be driven, and says in words what it lacks. */
  look(unseen: Unseen): Promise<LookedAt>;
  close(): Promise<void>;
}

interface Driven {
  wanted: WantedCluster;
  cluster: Cluster;
  on: Map<number, Hypervisor>;
}

export function openClusters(
  open: (connection: ClusterConnection) => ReturnType<OpenCluster>,
  allow: readonly string[],
): Clusters {
  const driven = new Map<number, Driven>();
  let atNodes = new Map<number, Driven>();
  let isMissed = false;

  async function follow(wanted: readonly WantedCluster[]): Promise<void> {
    isMissed = false;
    const gone: Cluster[] = [];
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, { cluster }] of driven) {
      if (ids.has(id)) continue;
      driven.delete(id);
      gone.push(cluster);
    }
    for (const each of wanted) {
      const before = driven.get(each.id);
      const isSame = before?.wanted.generation === each.generation;
      if (before && !isSame) gone.push(before.cluster);
      const cluster = before && isSame ? before.cluster : open(each.connection);
      const on = new Map(each.nodes.map(({ id, member }) => [id, cluster.on(member)]));
      driven.set(each.id, { wanted: each, cluster, on });
    }
    atNodes = new Map([...driven.values()].flatMap((each) => [...each.on.keys()].map((id) => [id, each])));
    // Who has taken one just before finishes with it and finds its connections closed: that is tried again.
    await Promise.all(gone.map((cluster) => cluster.close()));
  }

  return {
    follow,
    of(clusterId) {
      const found = driven.get(clusterId);
      if (found) return found.cluster;
      isMissed = true;
      throw new HypervisorError('host_not_ready', `the cluster ${clusterId} is not driven here yet`, {
        waits: true,
      });
    },
    onNode: (nodeId) => atNodes.get(nodeId)?.on.get(nodeId) ?? null,
    isEmpty: () => driven.size === 0,
    isMissed: () => isMissed,
    async look(unseen) {
      const shown = await presentedAt(unseen.endpoints, allow);
      const right = shown.filter(
        ({ certificate }) => certificate && unseen.fingerprints.includes(fingerprintOf(certificate)),
      );
      const silent = shown.flatMap(({ problem }) => problem ?? []);
      const others = shown
        .filter((each) => each.certificate && !right.includes(each))
        .map(({ endpoint, certificate }) => {
          const presented = fingerprintOf(certificate ?? '');
          return `${endpoint} presents another certificate than the pinned one (${presented}): somebody else answers there`;
        });
      const nothing = { version: null, tested: null, members: [] };
      const serverCertificate = right[0]?.certificate ?? null;
      // Where somebody else answers nothing of ours is said to anybody, not even to those that are right.
      if (others.length > 0) return { ...nothing, serverCertificate: null, problems: others, notes: silent };
      if (serverCertificate === null)
        return {
          ...nothing,
          serverCertificate,
          problems: silent.length > 0 ? silent : ['nobody answers'],
          notes: [],
        };
      const cluster = open({ ...unseen, serverCertificate });
      try {
        const findings = await cluster.look();
        return { ...findings, serverCertificate, notes: [...silent, ...notesOn(findings)] };
      } finally {
        await cluster.close();
      }
    },
    async close() {
      await follow([]);
    },
  };
}

function notesOn({ version, tested, notes = [] }: ClusterFindings): string[] {
  if (tested === null || tested === 'tested') return notes;
  return [`its version ${version} is ${tested} than what was tested`, ...notes];
}
