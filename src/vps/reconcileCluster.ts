import type { Cluster, MachineReport } from '../drivers/hypervisor/index.ts';
import { type Context, causesOf } from '../platform/index.ts';
import { followMachines, type Members } from './follow.ts';
import { byId, createRest, type Resting, reconcileReported } from './reconcile.ts';
import { stopLeftOvers } from './recovery/leftOvers.ts';

/** How many members are compared at a time: one that is slow to answer keeps no other waiting. */
const membersAtOnce = 4;

/**
 * Compares what the machines of a cluster should be with what they are, again and again, as `createReconciler` does those of a host. The
 * engine is asked once for the machines of all members (docs/decisions/0131-lists-of-clusters.md), which are then compared a member at a
 * time; machines that were moved are followed. Says whether all that is reported was compared: what is on a member that is no node of ours, or
 * whose comparison failed, nobody has looked at.
 */
export function createClusterReconciler(
  ctx: Context,
  cluster: Pick<Cluster, 'list' | 'on'>,
): (nodes: Members) => Promise<boolean> {
  let resting = new Map<number, Resting>();
  return async (nodes) => {
    resting = new Map(nodes.map(({ id }) => [id, resting.get(id) ?? createRest(ctx)]));
    const all = await cluster.list();
    await stopLeftOvers(ctx, cluster, all);
    await followMachines(ctx, nodes, cluster, all);
    const reports = byId(all);
    const lists = byMember(nodes, all);
    const members = new Set(nodes.map(({ member }) => member));
    let isWhole = nodes.length > 0 && all.every(({ node }) => node === undefined || members.has(node));
    await eachOf(nodes, membersAtOnce, async ({ id, member }) => {
      const own = lists.get(member) ?? [];
      await resting
        .get(id)?.(own, () => reconcileReported(ctx, id, cluster.on(member), reports, own))
        .catch((error: Error) => {
          isWhole = false;
          ctx.log.warn({ member, err: causesOf(error) }, 'a member could not be compared');
        });
    });
    return isWhole;
  };
}

function byMember(nodes: Members, all: readonly MachineReport[]): Map<string, MachineReport[]> {
  const lists = new Map<string, MachineReport[]>(nodes.map(({ member }) => [member, []]));
  // What has no place yet, as a machine of which half is made, is looked for at the first.
  for (const report of all) lists.get(report.node ?? nodes[0]?.member ?? '')?.push(report);
  return lists;
}

async function eachOf<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  const hand = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
}
