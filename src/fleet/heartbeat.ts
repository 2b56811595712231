import { record } from '../events/index.ts';
import {
  aheadMs,
  type HealthCheck,
  keepAlive,
  type LivingWorker,
  lookForWorkers,
  silentAfterS,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { nodeBack, nodeSilent } from './events.ts';

interface Node {
  id: number;
  name: string;
  was_reachable: boolean;
}

const hear = statement<Node, { ids: number[]; seenAt: Date[] }>(
  'fleet.hear',
  `update nodes n set seen_at = heard.seen_at, reachable = true
   from unnest(:ids::bigint[], :seenAt::timestamptz[]) heard (id, seen_at),
     (select id, reachable from nodes where id = any(:ids::bigint[]) order by id for no key update) before
   where n.id = heard.id and n.id = before.id and n.cluster_id is null
     and (not before.reachable or n.seen_at is distinct from heard.seen_at)
   returning n.id, n.name, before.reachable as was_reachable`,
);

// Members of clusters are heard of whenever their engine is asked, every few seconds. A time of a clock that was ahead is corrected:
// a node that died would be reachable for as long.
const noticeSilence = statement<
  Node,
  { now: Date; ahead: Date; silentAfterS: number; silentMemberAfterS: number }
>(
  'fleet.noticeSilence',
  `with corrected as (update nodes set seen_at = :now where seen_at > :ahead)
   update nodes set reachable = false where reachable and seen_at < :now::timestamptz - make_interval(
     secs => case when cluster_id is null then :silentAfterS::int else :silentMemberAfterS::int end)
   returning id, name, true as was_reachable`,
);

const silentMemberAfterS = 30;

/** A node was heard of so long ago that it is time to listen; nobody is silent before. */
const listenAfterS = 50;

/** When {@link watchNodes} has something to look at: also as long as a node is silent, which may be back at any moment. */
export const nextToHear = statement<{ at: Date | null }, { now: Date }>(
  'fleet.nextToHear',
  `select case when bool_or(not reachable or seen_at is null or seen_at > :now::timestamptz + interval '${aheadMs / 1_000} seconds')
     then :now::timestamptz
     else min(seen_at + make_interval(secs => case when cluster_id is null then ${listenAfterS} else ${silentMemberAfterS} end)) end as at
   from nodes`,
);

const silentNames = statement<{ name: string }>(
  'fleet.silentNames',
  `select name from nodes where not reachable and state <> 'down' order by name limit 6`,
);

/**
 * Nodes whose worker lives are heard of; those nobody heard of for a minute get no machines until they are heard of
 * again. One worker does this, and each process without one, so that the death of all workers is noticed by those that take orders.
 */
export async function watchNodes(ctx: TxContext): Promise<void> {
  // One moment for all of it: the clock may jump between a sign of life and the look at it.
  const now = ctx.clock.now();
  await keepAlive(ctx, now);
  const heard = heardOf((await lookForWorkers(ctx, now)).living);
  for (const node of await ctx.db.many(hear, { ids: [...heard.keys()], seenAt: [...heard.values()] })) {
    if (!node.was_reachable) await tell(ctx, node, nodeBack);
  }
  const ahead = new Date(now.getTime() + aheadMs);
  for (const node of await ctx.db.many(noticeSilence, { now, ahead, silentAfterS, silentMemberAfterS })) {
    ctx.log.warn({ node: node.name }, 'a node is silent and gets no new machines');
    await tell(ctx, node, nodeSilent);
  }
}

/** When the worker of each node was heard of last. */
function heardOf(workers: readonly LivingWorker[]): Map<number, Date> {
  const heard = new Map<number, Date>();
  // The one that was heard of last comes first.
  for (const { nodes, seenAt } of workers) {
    for (const node of nodes) if (!heard.has(node)) heard.set(node, seenAt);
  }
  return heard;
}

async function tell(ctx: TxContext, node: Node, event: typeof nodeSilent): Promise<void> {
  const subject = { type: 'node', id: node.id };
  await record(ctx, event, { subject, organizationId: null, data: { name: node.name } });
}

/** Whether all nodes are heard of. */
export const nodesCheck: HealthCheck = {
  name: 'nodes',
  look: async (ctx) => {
    const silent = (await ctx.db.many(silentNames)).map(({ name }) => name);
    if (silent.length === 0) return null;
    const names = silent.length > 5 ? `${silent.slice(0, 5).join(', ')} and more` : silent.join(', ');
    return `Silent, and without new machines: ${names}. Look at the worker there.`;
  },
};
