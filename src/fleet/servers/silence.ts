import { type Context, statement } from '../../platform/index.ts';

/** A BMC that alone is silent while others answer is out of order after so long. */
const ofItsOwnMs = 10 * 60_000;
/** With nobody to compare it with, one that is being restarted or updated is not given up at once. */
const aloneMs = 60 * 60_000;
/** Others count as asked lately within two turns of the sign of life. */
const latelyMs = 11 * 60_000;

// Of the same rack first: a rack's BMCs hang on one switch. One that was silent long before says nothing of the network.
const others = statement<
  { answers: boolean | null; silent: boolean | null; unasked: boolean },
  { serverId: number; now: Date; lately: Date }
>(
  'fleet.otherBmcsLately',
  `with it as (
     select s.rack_id, case when b.is_silent then b.problem_since end as since from servers s join server_bmcs b on b.server_id = s.id
     where s.id = :serverId),
   heard as (
     select s.rack_id = it.rack_id as near, not b.is_silent and b.asked_at > it.since as answers,
       b.is_silent and b.problem_since > coalesce(it.since, :now::timestamptz) - interval '15 minutes' as silent
     from it, server_bmcs b join servers s on s.id = b.server_id
     where b.server_id <> :serverId and b.asked_at > :lately),
   told as (select * from heard where answers or silent),
   counted as (select * from told where near or not exists (select from told where near))
   select bool_or(answers) as answers, bool_or(silent) as silent,
     exists (select from server_bmcs b where b.server_id <> :serverId and b.asked_at <= :lately) as unasked from counted`,
);

/**
 * Whether a BMC that is silent is out of order itself, after nothing was heard of its server since a moment. It is not while the others that were heard with it are
 * silent as well: then it is the network that they hang on, and whatever waits for them goes on waiting.
 */
export async function isOutOfOrder(ctx: Context, serverId: number, since: Date): Promise<boolean> {
  const now = ctx.clock.now();
  const silentMs = now.getTime() - since.getTime();
  if (silentMs <= ofItsOwnMs) return false;
  const lately = new Date(now.getTime() - latelyMs);
  const { answers, silent, unasked } = await ctx.db.one(others, { serverId, now, lately });
  if (answers === true) return true;
  // After an hour in which we were away ourselves, others are asked first.
  return silent !== true && !unasked && silentMs > aloneMs;
}
