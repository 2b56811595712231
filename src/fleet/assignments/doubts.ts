import { type Context, statement, transaction } from '../../platform/index.ts';

/** It prints its nonce when it has claimed its start, and again every two seconds once it has said what it has, which takes the largest server two minutes. */
const saysWithinMs = 3 * 60_000;
/** So long nobody claims a start from an address from which somebody did who was not the server; from any, after so many of them. */
const doubtedMs = 10 * 60_000;
const mostDoubts = 3;

const endDoubted = statement<{ remote: string | null }, { id: number; said: number[]; silentSince: Date }>(
  'fleet.endDoubtedStarts',
  `delete from server_starts where assignment_id = :id and secret_hash is not null and not proved
     and (id = any(:said::bigint[]) or coalesce(claimed_at, opened_at) <= :silentSince)
   returning host(remote) as remote`,
);
const keepDoubts = statement<never, { id: number; doubts: string; since: Date }>(
  'fleet.keepDoubts',
  `update server_assignments set doubts = (select coalesce(jsonb_agg(d), '[]') from jsonb_array_elements(doubts || :doubts::jsonb) d
     where (d ->> 'at')::timestamptz > :since) where id = :id`,
);
const doubted = statement<{ id: number }, { tokenHash: string; since: Date }>(
  'fleet.doubtedClaim',
  `select s.id from server_starts s join server_assignments g on g.id = s.assignment_id join servers v on v.id = g.server_id
   cross join lateral (select count(*) as all, count(*) filter (where d ->> 'remote' is not distinct from host(s.remote)) as own
     from jsonb_array_elements(g.doubts) d where (d ->> 'at')::timestamptz > :since) doubts
   where s.token_hash = :tokenHash and s.secret_hash is null and g.kind = 'rescue' and g.state = 'working' and v.customer_work is null
     and (doubts.own > 0 or doubts.all >= ${mostDoubts})`,
);

/**
 * The line of a server in the rescue system was listened to, and nothing was read there of starts that somebody has claimed: those that had said before what they
 * have, and those that say nothing for minutes, are not its own. They are over, and the line is no proof's any more.
 */
export async function doubtUnproved(ctx: Context, assignmentId: number, said: number[]): Promise<void> {
  const now = ctx.clock.now();
  await transaction(ctx, 'fleet.doubtUnproved', async (tx) => {
    const silentSince = new Date(now.getTime() - saysWithinMs);
    const ended = await tx.db.many(endDoubted, { id: assignmentId, said, silentSince });
    if (ended.length === 0) return;
    const doubts = JSON.stringify(ended.map(({ remote }) => ({ remote, at: now })));
    await tx.db.run(keepDoubts, { id: assignmentId, doubts, since: doubtedSince(now) });
  });
}

/**
 * Whether a start is not to be claimed for now: somebody at the same address claimed one of this server that was not it a moment ago, or several did. Each claim takes
 * the serial line from whoever looks at it, and any machine on the network of servers can claim one. A server that is refused so starts anew and asks again.
 */
export async function isDoubted(ctx: Context, tokenHash: string): Promise<boolean> {
  return (await ctx.db.maybe(doubted, { tokenHash, since: doubtedSince(ctx.clock.now()) })) !== null;
}

function doubtedSince(now: Date): Date {
  return new Date(now.getTime() - doubtedMs);
}
