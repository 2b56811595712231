import { randomUUID } from 'node:crypto';
import { again } from './again.ts';
import type { Cluster, Clusters, WantedCluster } from './drivers/hypervisor/index.ts';
import {
  clustersToDrive,
  hearCluster,
  leaveCluster,
  missCluster,
  noteCompared,
  watchesCluster,
  writeMembers,
} from './fleet/index.ts';
import { type Context, causesOf } from './platform/index.ts';
import { createClusterReconciler, createSampler, onMachineEvent, resolutions } from './vps/index.ts';

/** The clusters of the fleet, as this process drives them. */
export interface DrivenClusters {
  /** The nodes whose jobs can be done here now: of clusters that this process reaches, but for members that do not answer. */
  served(): readonly number[];
  stop(): Promise<void>;
}

const followEveryMs = 5_000;
/** As long as there is none, and no job is about one. */
const followFirstEveryMs = 60_000;
const askEveryMs = 5_000;
/** After a restore machines wait for what it writes down. */
const noteComparedEveryMs = 15_000;

/** Has the drivers of this process be those of the clusters that the fleet has, so that consoles of their machines can be opened. */
export function followClusters(ctx: Context, clusters: Clusters): { stop(): Promise<void> } {
  return again(ctx, 'clusters could not be read', followEveryMs, async () =>
    clusters.follow(await clustersToDrive(ctx)),
  );
}

/**
 * The same in a process that does jobs. Every one of them asks every cluster which members it has, since that tells whether jobs of
 * theirs can be done here; one at a time writes down what is heard, and looks after the machines.
 */
export function driveClusters(ctx: Context, clusters: Clusters): DrivenClusters {
  const by = randomUUID();
  const driven = new Map<number, DrivenCluster>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  const following = again(ctx, 'clusters could not be read', followEveryMs, async () => {
    const isEarly = performance.now() - readAtMs < followFirstEveryMs - followEveryMs / 2;
    if (driven.size === 0 && isEarly && !clusters.isMissed() && !ctx.clock.isDriven) return;
    const wanted = await clustersToDrive(ctx);
    readAtMs = performance.now();
    for (const [id, each] of driven) {
      if (wanted.some((cluster) => cluster.id === id && cluster.generation === each.generation)) continue;
      driven.delete(id);
      await each.stop();
    }
    await clusters.follow(wanted);
    for (const cluster of wanted) {
      const known = driven.get(cluster.id);
      if (known) known.nodes = cluster.nodes;
      else driven.set(cluster.id, driveCluster(ctx, clusters.of(cluster.id), cluster, by));
    }
  });
  return {
    served: () => [...driven.values()].flatMap((each) => each.served()),
    stop: async () => {
      await following.stop();
      await Promise.all([...driven.values()].map((each) => each.stop()));
    },
  };
}

interface DrivenCluster {
  generation: number;
  nodes: WantedCluster['nodes'];
  served(): number[];
  stop(): Promise<void>;
}

function driveCluster(
  ctx: Context,
  cluster: Cluster,
  { id, name, generation, nodes }: WantedCluster,
  by: string,
) {
  /** Members that do not answer; null: nobody does. One that has left has nothing to wait for: its machines are elsewhere, or gone. */
  let silent: readonly string[] | null = null;
  let forget: (() => void) | null = null;
  let sampledAtMs = 0;
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  const asked = again(ctx, `the cluster ${name} could not be looked after`, askEveryMs, turn);
  const newSampler = () =>
    createSampler(
      ctx,
      () => driven.nodes.map((node) => node.id),
      () => cluster.sample(),
    );
  let sample = newSampler();
  const reconcile = createClusterReconciler(ctx, cluster);
  const driven: DrivenCluster = {
    generation,
    nodes,
    served: () => {
      const now = silent;
      return now === null
        ? []
        : driven.nodes.filter(({ member }) => !now.includes(member)).map((node) => node.id);
    },
    stop: async () => {
      await asked.stop();
      await letGo();
    },
  };
  return driven;

  async function turn(): Promise<void> {
    const members = await cluster.nodes().catch(async (error: Error) => {
      silent = null;
      if (forget !== null) await leaveCluster(ctx, id, by);
      await letGo();
      await missCluster(ctx, id, error.message);
      return null;
    });
    if (members === null) return;
    silent = members.filter(({ answers }) => !answers).map((member) => member.name);
    if (!(await watchesCluster(ctx, id, by))) return letGo();
    await hearCluster(ctx, id);
    await writeMembers(ctx, id, members, cluster.capabilities);
    if (forget === null) await listen();
    const isWhole = await reconcile(driven.nodes);
    if (isWhole && performance.now() - comparedAtMs > noteComparedEveryMs) {
      await noteCompared(ctx, id);
      comparedAtMs = performance.now();
    }
    if (performance.now() - sampledAtMs < resolutions.hour.intervalS * 1_000 - askEveryMs / 2) return;
    // A turn may take so long that another process goes on meanwhile: what machines sent would be counted by both.
    if (!(await watchesCluster(ctx, id, by))) return letGo();
    sampledAtMs = performance.now();
    await sample();
  }

  /** Another process goes on: what that measures is not to be measured here once more. */
  async function letGo(): Promise<void> {
    if (forget === null) return;
    forget();
    forget = null;
    const before = sample;
    sample = newSampler();
    await before.finish();
  }

  async function listen(): Promise<void> {
    await cluster.listen();
    forget = cluster.watch((event) => {
      const [first] = driven.nodes;
      if (first === undefined) return;
      onMachineEvent(ctx, cluster.on(first.member), event).catch((error: Error) =>
        ctx.log.warn({ err: causesOf(error), machine: event.id }, 'a power change could not be followed'),
      );
    });
  }
}
