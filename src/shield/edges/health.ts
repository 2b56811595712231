import type { EdgeError, TrafficKind } from '../../drivers/edge/index.ts';
import { record } from '../../events/index.ts';
import { type Context, statement, type TxContext, transaction } from '../../platform/index.ts';
import { wordsOf } from '../enforce/apply.ts';
import { edgeFailing, edgeWell } from '../events.ts';
import type { Peer } from './peers.ts';
import type { RoutersRow } from './rows.ts';

/** The worst that is so of an edge. */
export type Health = 'error' | 'peers' | 'full' | 'unseen' | 'well';

const healthOf = (edge: string) => `case when ${edge}.error is not null then 'error'
  when ${edge}.peers_down_since is not null then 'peers' when ${edge}.full_since is not null then 'full'
  when ${edge}.seen_at is null then 'unseen' else 'well' end`;

/** Locked, so that nobody turns an edge between what it was and what it is. */
const before = (which: string) =>
  `with before as (select b.id, ${healthOf('b')} as health from shield_edges b where ${which} order by b.id for update)`;
const turned = `returning e.id, e.name, before.health as was, ${healthOf('e')} as health`;

/** An edge of which something was written down. */
interface Noted {
  id: number;
  name: string;
  was: Health;
  health: Health;
}

const setRouters = statement<
  Noted,
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
  `${before('b.id = :id')}
   update shield_edges e set seen_at = case when :error::text is null then :now::timestamptz else seen_at end, error = :error,
     error_since = case when :error::text is null then null else coalesce(error_since, :now::timestamptz) end,
     peers = coalesce(:peers::jsonb, peers), routes = :routes,
     peers_down_since = case when :isDown then coalesce(peers_down_since, :now::timestamptz) end
   from before where e.id = before.id and (error is distinct from :error::text or peers is distinct from coalesce(:peers::jsonb, peers)
     or routes is distinct from :routes::int or seen_at is null or seen_at < :before
     or (peers_down_since is not null) <> :isDown)
   ${turned}`,
);

/** So often it is written down that all is as it was. */
const everyMs = 180_000;

/** Writes down how it stands with routers, and tells staff when that turns; `peers` null: nobody knows. */
export async function noteRouters(
  ctx: Context,
  { id, peers: known }: RoutersRow,
  { error, peers, routes }: { error: string | null; peers: readonly Peer[] | null; routes: number | null },
): Promise<void> {
  const now = ctx.clock.now();
  const given = {
    ...{ id, error, routes, now, before: new Date(now.getTime() - everyMs) },
    peers: peers === null ? null : JSON.stringify(peers),
    isDown: (peers ?? known).some(({ state }) => state !== 'established'),
  };
  await transaction(ctx, 'shield.noteRouters', async (tx) =>
    tellOfTurns(tx, await tx.db.many(setRouters, given)),
  );
}

async function tellOfTurns(tx: TxContext, noted: readonly Noted[]): Promise<void> {
  for (const { id, name, was, health } of noted) {
    if (was === health) continue;
    const entry = { subject: { type: 'shield_edge', id }, organizationId: null };
    if (health === 'well') await record(tx, edgeWell, { ...entry, data: { name } });
    else await record(tx, edgeFailing, { ...entry, data: { name, health } });
  }
}

const setFilter = statement<
  Noted,
  { nodeId: number; error: string | null; full: string[]; now: Date; before: Date }
>(
  'shield.setFilterHealth',
  `${before(`b.node_id = :nodeId and b.kind <> 'routers'`)}
   update shield_edges e set seen_at = case when :error::text is null then :now::timestamptz else seen_at end, error = :error,
     error_since = case when :error::text is null then null else coalesce(error_since, :now::timestamptz) end,
     full_kinds = :full::text[],
     full_since = case when cardinality(:full::text[]) > 0 then coalesce(full_since, :now::timestamptz) end
   from before where e.id = before.id and (error is distinct from :error::text or full_kinds <> :full::text[]
     or seen_at is null or seen_at < :before)
   ${turned}`,
);

/**
 * Writes down how it stands with what filters at a node: what failed, and of which traffic it counts only a part; now and then that
 * all is well. Tells staff when that turns.
 */
export function filterNoter(ctx: Context, nodeId: number) {
  let noted = '';
  let notedAt = Number.NEGATIVE_INFINITY;
  return async (failure: EdgeError | null, full: readonly TrafficKind[]): Promise<void> => {
    const now = ctx.clock.now();
    const error = failure === null ? null : wordsOf(failure);
    const words = JSON.stringify([error, full]);
    if (words === noted && Math.abs(now.getTime() - notedAt) < everyMs) return;
    const before = new Date(now.getTime() - everyMs);
    const given = { nodeId, now, before, full: full.toSorted(), error };
    await transaction(ctx, 'shield.noteFilter', async (tx) =>
      tellOfTurns(tx, await tx.db.many(setFilter, given)),
    );
    [noted, notedAt] = [words, now.getTime()];
  };
}
