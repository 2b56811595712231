import type { EdgeError, TrafficKind } from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { wordsOf } from '../enforce/apply.ts';
import type { Peer } from './peers.ts';
import type { RoutersRow } from './rows.ts';

const setRouters = statement<
  never,
  {
    id: number;
    error: string | null;
    peers: string | null;
    isDown: boolean;
    routes: number | null;
    now: Date;
    before: Date;
  }
>(
  'shield.setRouters',
  `update shield_edges set seen_at = case when :error::text is null then :now::timestamptz else seen_at end, error = :error,
     error_since = case when :error::text is null then null else coalesce(error_since, :now::timestamptz) end,
     peers = coalesce(:peers::jsonb, peers), routes = :routes,
     peers_down_since = case when :isDown then coalesce(peers_down_since, :now::timestamptz) end
   where id = :id and (error is distinct from :error::text or peers is distinct from coalesce(:peers::jsonb, peers)
     or routes is distinct from :routes::int or seen_at is null or seen_at < :before
     or (peers_down_since is not null) <> :isDown)`,
);

/** So often it is written down that all is as it was. */
const everyMs = 10_000;

/** Writes down how it stands with routers; `peers` null: nobody knows. */
export async function noteRouters(
  ctx: Context,
  { id, peers: known }: RoutersRow,
  { error, peers, routes }: { error: string | null; peers: readonly Peer[] | null; routes: number | null },
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.run(setRouters, {
    ...{ id, error, routes, now, before: new Date(now.getTime() - everyMs) },
    peers: peers === null ? null : JSON.stringify(peers),
    isDown: (peers ?? known).some(({ state }) => state !== 'established'),
  });
}

const setFilter = statement<
  never,
  { nodeId: number; error: string | null; full: string[]; now: Date; before: Date }
>(
  'shield.setFilterHealth',
  `update shield_edges set seen_at = case when :error::text is null then :now::timestamptz else seen_at end, error = :error,
     error_since = case when :error::text is null then null else coalesce(error_since, :now::timestamptz) end,
     full_kinds = :full::text[],
     full_since = case when cardinality(:full::text[]) > 0 then coalesce(full_since, :now::timestamptz) end
   where node_id = :nodeId and kind <> 'routers' and (error is distinct from :error::text or full_kinds <> :full::text[]
     or seen_at is null or seen_at < :before)`,
);

/** Writes down how it stands with what filters at a node: what failed, and of which traffic it counts only a part; now and then that all is well. */
export function filterNoter(ctx: Context, nodeId: number) {
  let noted = '';
  let notedAt = Number.NEGATIVE_INFINITY;
  return async (failure: EdgeError | null, full: readonly TrafficKind[]): Promise<void> => {
    const now = ctx.clock.now();
    const error = failure === null ? null : wordsOf(failure);
    const words = JSON.stringify([error, full]);
    if (words === noted && Math.abs(now.getTime() - notedAt) < everyMs) return;
    const before = new Date(now.getTime() - everyMs);
    await ctx.db.run(setFilter, { nodeId, now, before, full: full.toSorted(), error });
    [noted, notedAt] = [words, now.getTime()];
  };
}
