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

const selectEntry = `
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
const newTransaction = statement<{ mark: string }>(
  'events.newTransaction',
  'select pg_current_xact_id()::text as mark',
);
const allEndedBefore = statement<{ ended: boolean }, { mark: string }>(
  'events.allEndedBefore',
  'select pg_snapshot_xmin(pg_current_snapshot()) >= :mark::xid8 as ended',
);

/**
 * The entries after one, in the order of their ids, at most `limit`; what comes later has greater ids than all of
 * these, so the last one's is the place to go on from. Ids are given out before transactions commit: where one is
 * missing, its transaction may be under way still, and this waits until it has ended. An entry is never skipped,
 * and whoever records one pays nothing for those who read.
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
  // Whoever took one of the missing ids had begun to write before the last of these was seen: before this moment.
  const { mark } = await ctx.db.one(newTransaction);
  for (
    let waitMs = 1;
    !(await ctx.db.one(allEndedBefore, { mark })).ended;
    waitMs = Math.min(waitMs * 2, 100)
  )
    await pause(waitMs, undefined, { signal });
  // What is missing now was rolled back. There may be more entries than before, but not after the last.
  return (await ctx.db.many(entriesBetween, { after, last })).slice(0, limit);
}
