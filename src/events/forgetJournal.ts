import { type Context, type Database, type PeriodicJob, statement, transaction } from '../platform/index.ts';

const batch = 1_000;
const dayMs = 24 * 3_600_000;

// From its beginning, up to the first entry that is kept: what is gone is all that came before one position.
const removeFirst = statement<{ removed: number }, { before: Date; limit: number }>(
  'events.removeFirst',
  `with first as (select id, created_at from journal order by id limit :limit),
   gone as (
     delete from journal where id in (select id from first
       where id < coalesce((select min(id) from first where created_at >= :before::timestamptz), 9223372036854775807))
     returning id),
   said as (
     update journal_horizon set kept_since = :before::timestamptz,
       removed_through = greatest(removed_through, (select max(id) from gone))
     where exists (select from gone))
   select count(*)::int as removed from gone`,
);

/**
 * Clears the journal of what is older than so many days, a batch at a time, over connections of the one role that may. Whoever
 * follows it and has seen less than what is gone is told so; activity and audit say from when on there is all of it.
 */
export function forgetJournal(retention: Database, days: number): PeriodicJob {
  return {
    name: 'events.forgetJournal',
    intervalMs: 10_000,
    work: async (tx) => {
      const before = new Date(tx.clock.now().getTime() - days * dayMs);
      const ctx: Context = { ...tx, db: retention };
      const { removed } = await transaction(ctx, 'events.removeFirst', (own) =>
        own.db.one(removeFirst, { before, limit: batch }),
      );
      return removed === batch ? 'more' : 'done';
    },
  };
}

const horizon = statement<{ kept_since: Date | null }>(
  'events.keptSince',
  'select kept_since from journal_horizon',
);

/** Since when the journal has all that happened; null: from the beginning. */
export async function journalKeptSince(ctx: Context): Promise<Date | null> {
  return (await ctx.db.one(horizon)).kept_since;
}
