import { setTimeout as pause } from 'node:timers/promises';
import { type Context, statement } from '../platform/index.ts';

/** An entry of the journal, for whoever reads all of them. */
export interface JournalEntry {
  id: number;
  organizationId: number | null;
  /** The event's name. */
  event: string;
  subject: { type: string; id: number };
  data: Record<string, unknown>;
  createdAt: Date;
}

export const selectEntry = `
  select id, organization_id as "organizationId", action as event, data, created_at as "createdAt",
    jsonb_build_object('type', subject_type, 'id', subject_id) as subject
  from journal`;
const entriesAfter = statement<JournalEntry, { after: number; limit: number }>(
  'events.entriesAfter',
  `${selectEntry} where id > :after order by id limit :limit`,
);
const entriesBetween = statement<JournalEntry, { after: number; last: number }>(
  'events.entriesBetween',
  `${selectEntry} where id > :after and id <= :last order by id`,
);
const newestId = statement<{ id: number }>(
  'events.newestId',
  'select coalesce(max(id), 0) as id from journal',
);
// Whoever writes into the journal holds this lock from before it has an id until after all see its end; a transaction
// that writes elsewhere does not, however long it runs.
const writers = statement<{ transactions: string[] }>(
  'events.journalWriters',
  `select coalesce(array_agg(virtualtransaction), '{}') as transactions from pg_locks
   where locktype = 'relation' and relation = 'journal'::regclass and mode = 'RowExclusiveLock' and granted
     and database = (select oid from pg_database where datname = current_database())`,
);

const idBefore = statement<{ id: number }, { before: Date }>(
  'events.idBefore',
  // The newest entries are looked at one by one, until one is old enough.
  'select id from journal where created_at < :before order by id desc limit 1',
);
/** Longer than a transaction takes from its entry in the journal to its end, but for a batch's. */
const settledAfterMs = 5_000;
/** What is asked for beside the position may be read so much earlier; the dashboard relies on it. */
const besideMs = 2_000;

/**
 * An entry from before now: what happens from now on comes after it, and little else does. For whoever reads something first,
 * or at the same time, and follows what happens to it then.
 */
export async function journalPosition(ctx: Context): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - settledAfterMs - besideMs);
  return (await ctx.db.maybe(idBefore, { before }))?.id ?? 0;
}

/**
 * The entries after one, in the order of their ids, at most `limit`; what comes later has greater ids than all of
 * these, so the last one's is the place to go on from. Ids are given out before transactions commit: where one is
 * missing, its transaction may be under way still, and this waits until it has ended. An entry is never skipped,
 * whoever records one pays nothing for those who read, and nobody waits for a transaction that records none.
 */
export async function readJournal(
  ctx: Context,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<JournalEntry[]> {
  const seen = await ctx.db.many(entriesAfter, { after, limit });
  const last = seen.at(-1)?.id ?? after;
  if (last - after === seen.length) return seen;
  await writersEnded(ctx, signal);
  // What is missing now was rolled back. There may be more entries than before, but not after the last.
  return (await ctx.db.many(entriesBetween, { after, last })).slice(0, limit);
}

/** The newest entry's id, once every entry before it is there; what comes later has a greater one. */
export async function newestEntry(ctx: Context, signal?: AbortSignal): Promise<number> {
  const { id } = await ctx.db.one(newestId);
  await writersEnded(ctx, signal);
  return id;
}

/** Waits until all have ended that write into the journal now. */
async function writersEnded(ctx: Context, signal?: AbortSignal): Promise<void> {
  let waitedFor = (await ctx.db.one(writers)).transactions;
  for (let waitMs = 1; waitedFor.length > 0; waitMs = Math.min(waitMs * 2, 50)) {
    await pause(waitMs, undefined, { signal });
    const now = new Set((await ctx.db.one(writers)).transactions);
    waitedFor = waitedFor.filter((transaction) => now.has(transaction));
  }
}
