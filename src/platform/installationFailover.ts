import type { Context } from './context.ts';
import type { Acknowledged } from './database/acknowledged.ts';
import { statement } from './database/index.ts';

/** Where a database is: which server's it is, and how often a copy has taken over from that. */
export interface Cluster {
  id: string;
  timeline: string;
}

// A server that took over knows how far it had come until then, for as long as it runs. It cannot have given a number
// of a transaction to another one whose beginning it has, and what had begun there and not ended has failed.
const countMissing = statement<{ missing: number | null }, { xids: string[]; lsns: string[] }>(
  'installation.countMissing',
  `select sum(case when came.upto is null then null when came.upto < told.lsn then 1
       when pg_xact_status(told.xid) = 'committed' then 0 else 1 end)::int as missing
   from (select pg_last_wal_replay_lsn() as upto) came
   cross join unnest(:xids::xid8[], :lsns::pg_lsn[]) as told(xid, lsn)`,
);

export type Verdict = 'whole' | 'lost' | 'unknown';

/**
 * What a process that was there before can say of a standby that took over as `now`. `whole`: everything that was told of is there, since
 * commits waited for it, and the last ones of this process are there. `lost`: one of those is not. `unknown`: this process has no proof.
 */
export async function judgeFailover(
  { db }: Pick<Context, 'db'>,
  before: Cluster,
  now: Cluster,
  acknowledged: readonly Acknowledged[],
): Promise<Verdict> {
  const isNext = Number.parseInt(now.timeline, 16) === Number.parseInt(before.timeline, 16) + 1;
  if (now.id !== before.id || !isNext || acknowledged.length === 0) return 'unknown';
  const { missing } = await db.one(countMissing, {
    xids: acknowledged.map(({ xid }) => xid),
    lsns: acknowledged.map(({ lsn }) => lsn),
  });
  if (missing === null) return 'unknown';
  if (missing > 0) return 'lost';
  return acknowledged.every(({ waited }) => waited) ? 'whole' : 'unknown';
}
