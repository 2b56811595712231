import { record } from '../events/index.ts';
import { statement, type TxContext } from '../platform/index.ts';
import { nodeBack, nodeSilent } from './events.ts';

/** A node that was not heard of for so long gets no machines until it is heard of again. */
export const silentAfterS = 60;
const beatEveryS = 10;

interface Node {
  id: number;
  name: string;
  was_reachable: boolean;
}

const beat = statement<Node, { name: string; now: Date; beatEveryS: number }>(
  'fleet.beat',
  `update nodes n set seen_at = :now, reachable = true
   from (select id, reachable from nodes where name = :name for no key update) before
   where n.id = before.id and (not before.reachable or n.seen_at is null
     or n.seen_at < :now::timestamptz - make_interval(secs => :beatEveryS))
   returning n.id, n.name, before.reachable as was_reachable`,
);

const noticeSilence = statement<Node, { now: Date; silentAfterS: number }>(
  'fleet.noticeSilence',
  `update nodes set reachable = false where reachable
     and seen_at < :now::timestamptz - make_interval(secs => :silentAfterS)
   returning id, name, true as was_reachable`,
);

/**
 * The node of this process says that it lives; after that, nodes nobody heard of are noticed. In this order, so
 * that a process which slept through its own turns never takes its node for dead.
 */
export async function watchNodes(ctx: TxContext): Promise<void> {
  const now = ctx.clock.now();
  const own = await ctx.db.maybe(beat, { name: ctx.config.nodeName, now, beatEveryS });
  if (own?.was_reachable === false) await tell(ctx, own, nodeBack);
  for (const node of await ctx.db.many(noticeSilence, { now, silentAfterS })) {
    ctx.log.warn({ node: node.name }, 'a node is silent and gets no new machines');
    await tell(ctx, node, nodeSilent);
  }
}

async function tell(ctx: TxContext, node: Node, event: typeof nodeSilent): Promise<void> {
  const subject = { type: 'node', id: node.id };
  await record(ctx, event, { subject, organizationId: null, data: { name: node.name } });
}
