import type { Config } from '../config.ts';
import type { Concern, ConcernSource } from './attention.ts';
import type { Context, TxContext } from './context.ts';
import { isRefused } from './database/failures.ts';
import { forSame, statement } from './database/index.ts';
import { causesOf } from './log.ts';

interface Cluster {
  id: string;
  timeline: string;
}

const whereItIs = `select (select system_identifier::text from pg_control_system()) as id,
     left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`;
const readCluster = statement<Cluster>('installation.readCluster', whereItIs);
const compareCluster = statement<Cluster & { is_known: boolean | null }>(
  'installation.compareCluster',
  `select here.id, here.timeline, i.cluster_id = here.id and i.timeline = here.timeline as is_known
   from (${whereItIs}) here left join installation i on true`,
);
const remember = statement<never, { id: string; timeline: string }>(
  'installation.rememberCluster',
  `insert into installation (cluster_id, timeline) values (:id, :timeline)
   on conflict (only_row) do update set cluster_id = excluded.cluster_id, timeline = excluded.timeline
   where installation.cluster_id is null`,
);
const notice = statement<never, { now: Date }>(
  'installation.noticeRecovery',
  'update installation set recovery_seen_at = :now where recovery_seen_at is null',
);
const recoverySeen = forSame(
  statement<{ seen_at: Date | null }>(
    'installation.recoverySeen',
    'select recovery_seen_at as seen_at from installation',
  ),
);
const recoveryNow = forSame(
  statement<{ seen_at: Date | null; is_other: boolean }>(
    'installation.recoveryNow',
    `select recovery_seen_at as seen_at,
       coalesce(cluster_id <> here.id or installation.timeline <> here.timeline, false) as is_other
     from installation cross join (${whereItIs}) here`,
  ),
);

/** Those whose PostgreSQL tells where it is; a statement that it refuses would end the transaction that asks. */
const told = new WeakSet<Config>();

/**
 * Since when this database is known to have come from elsewhere, while nobody has said what is missing in it; null otherwise. It is
 * looked at anew, and noticed by whoever asks first: what was given to others before must not be given once more until somebody notices.
 */
export async function findRecovery(tx: TxContext): Promise<Date | null> {
  if (!told.has(tx.config)) return (await tx.db.maybe(recoverySeen))?.seen_at ?? null;
  const found = await tx.db.maybe(recoveryNow);
  if (found === null || found.seen_at !== null || !found.is_other) return found?.seen_at ?? null;
  await tx.db.run(notice, { now: tx.clock.now() });
  return (await tx.db.maybe(recoverySeen))?.seen_at ?? null;
}

/**
 * Says whether this database is where it was, so that jobs may be done. Where it was recovered to an earlier moment, failed over to
 * a copy, or is a copy, what was done since is not known here: staff is told, and nothing is done until `innkeeper note-recovery`
 * says what it was. A PostgreSQL that does not tell its timeline is taken for the one that it was.
 */
export async function watchCluster(ctx: Context): Promise<(ctx: Context) => Promise<boolean>> {
  const tells = await ctx.db.one(readCluster).then(
    () => true,
    (error: Error) => {
      // A connection that broke says nothing: for as long as this process lives, a recovery would be noticed by nobody.
      if (!isRefused(error)) throw error;
      ctx.log.warn(
        { err: causesOf(error) },
        'PostgreSQL does not tell its timeline: after a recovery, say innkeeper note-recovery before the product starts',
      );
      return false;
    },
  );
  if (tells) told.add(ctx.config);
  let isTold = false;
  return async (now) => {
    if (!tells) return true;
    const { is_known: isKnown, ...cluster } = await now.db.one(compareCluster);
    if (isKnown === true) {
      isTold = false;
      return true;
    }
    if (isKnown === null) {
      await now.db.run(remember, cluster);
      return true;
    }
    await now.db.run(notice, { now: now.clock.now() });
    if (!isTold)
      now.log.error(
        cluster,
        'the database was recovered, failed over or copied, and what was done since is not known: no jobs are done until innkeeper note-recovery says what it was',
      );
    isTold = true;
    return false;
  };
}

/** A database of which nobody has said yet what is missing in it. */
export const recoveryConcerns: ConcernSource[] = [
  {
    kind: 'database.other',
    subject: 'database',
    title: 'No jobs are done, because the database is not where it was',
    find: statement<Concern, { limit: number }>(
      'installation.recoveryConcerns',
      `select 1::bigint as id, null::bigint as organization_id, recovery_seen_at as since,
         'the database was recovered to an earlier moment, failed over or was copied: say on a host of the product ' ||
         'innkeeper note-recovery --as-of TIME, the moment that it came back to, or --nothing-lost; no jobs are done until then' as message
       from installation where recovery_seen_at is not null limit :limit`,
    ),
  },
];
