import type { Config } from '../config.ts';
import type { Concern, ConcernSource } from './attention.ts';
import type { Context, TxContext } from './context.ts';
import { isRefused } from './database/failures.ts';
import { type Database, forSame, statement } from './database/index.ts';
import { fail } from './errors.ts';
import { type Cluster, judgeFailover, type Verdict } from './installationFailover.ts';
import { causesOf } from './log.ts';

const whereItIs = `select (select system_identifier::text from pg_control_system()) as id,
     left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`;
const readCluster = statement<Cluster>('installation.readCluster', whereItIs);
const compareCluster = statement<Cluster & { is_known: boolean | null }>(
  'installation.compareCluster',
  `select here.id, here.timeline, i.cluster_id = here.id and i.timeline = here.timeline and i.recovery_seen_at is null as is_known
   from (${whereItIs}) here left join installation i on true`,
);
const remember = statement<never, { id: string; timeline: string }>(
  'installation.rememberCluster',
  `insert into installation (cluster_id, timeline) values (:id, :timeline)
   on conflict (only_row) do update set cluster_id = excluded.cluster_id, timeline = excluded.timeline
   where installation.cluster_id is null`,
);
const goOn = statement<never, { id: string; before: string; timeline: string }>(
  'installation.goOn',
  `update installation set timeline = :timeline
   where cluster_id = :id and timeline = :before and recovery_seen_at is null`,
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
  statement<Cluster & { seen_at: Date | null; is_other: boolean }>(
    'installation.recoveryNow',
    `select here.id, here.timeline, recovery_seen_at as seen_at,
       coalesce(cluster_id <> here.id or installation.timeline <> here.timeline, false) as is_other
     from installation cross join (${whereItIs}) here`,
  ),
);

/** What a process knows of where its database is; a statement that PostgreSQL refuses would end the transaction that asks. */
interface Watch {
  /** Where it was when this process saw it last. */
  here: Cluster;
  /** Whether that was where it should be. */
  wasKnown: boolean;
  /** Since when this process cannot say whether it still is; null while it can. */
  unsureSinceMs: number | null;
  db: Database;
}
const watches = new WeakMap<Config, Watch>();

/** So long who has no proof that nothing is lost waits for a process that has: it may have just started, or written nothing. */
const witnessMs = 15_000;

function mayHearMore(watch: Watch, verdict: Verdict | 'same'): boolean {
  if (verdict !== 'unknown' && (verdict !== 'same' || watch.wasKnown)) return false;
  watch.unsureSinceMs ??= performance.now();
  return performance.now() - watch.unsureSinceMs < witnessMs;
}

const judge = (ctx: Context, watch: Watch, now: Cluster) =>
  judgeFailover(ctx, watch.here, now, watch.db.acknowledged(watch.here.timeline));

const isSame = (one: Cluster, other: Cluster) => one.id === other.id && one.timeline === other.timeline;

/**
 * Since when this database is known to have come from elsewhere, while nobody has said what is missing in it; null otherwise. It is
 * looked at anew, and noticed by whoever asks first: what was given to others before must not be given once more until somebody notices.
 * Fails with `unavailable` for a moment after a start on a database that has failed over, while nobody has said that nothing is lost.
 */
export async function findRecovery(tx: TxContext): Promise<Date | null> {
  const watch = watches.get(tx.config);
  if (watch === undefined) return (await tx.db.maybe(recoverySeen))?.seen_at ?? null;
  const found = await tx.db.maybe(recoveryNow);
  if (found === null || found.seen_at !== null) return found?.seen_at ?? null;
  if (!found.is_other && isSame(watch.here, found)) return null;
  const verdict = isSame(watch.here, found) ? 'same' : await judge(tx, watch, found);
  if (verdict === 'whole' || (verdict === 'unknown' && !found.is_other)) return null;
  if (mayHearMore(watch, verdict))
    throw fail('unavailable', {
      message: 'The database has just failed over; try again shortly',
      retryAfterS: 5,
    });
  await tx.db.run(notice, { now: tx.clock.now() });
  return (await tx.db.maybe(recoverySeen))?.seen_at ?? null;
}

/**
 * Says whether this database is where it was, so that jobs may be done. Where a standby took over that has everything which anybody was
 * told of, it is (`installationFailover.ts`). Where it was recovered to an earlier moment, failed over to another copy, or is a copy, what was done
 * since is not known here: staff is told, and nothing is done until `innkeeper note-recovery` says what it was. A PostgreSQL that does
 * not tell its timeline is taken for the one that it was.
 */
export async function watchCluster(ctx: Context): Promise<(ctx: Context) => Promise<boolean>> {
  const here = await ctx.db.one(readCluster).catch((error: Error) => {
    // A connection that broke says nothing: for as long as this process lives, a recovery would be noticed by nobody.
    if (!isRefused(error)) throw error;
    ctx.log.warn(
      { err: causesOf(error) },
      'PostgreSQL does not tell its timeline: after a recovery, say innkeeper note-recovery before the product starts',
    );
    return null;
  });
  if (here === null) return async () => true;
  const db = ctx.db as Database;
  db.noteCommits();
  const watch: Watch = { here, wasKnown: false, unsureSinceMs: null, db };
  watches.set(ctx.config, watch);
  let isTold = false;
  return async (now) => {
    const { is_known: isKnown, ...cluster } = await now.db.one(compareCluster);
    const verdict = isSame(watch.here, cluster) ? 'same' : await judge(now, watch, cluster);
    if (isKnown === null) await now.db.run(remember, cluster);
    if (isKnown === false && verdict === 'whole')
      await now.db.run(goOn, { ...cluster, before: watch.here.timeline });
    const isWell =
      verdict !== 'lost' &&
      (isKnown !== false || (verdict === 'whole' && (await now.db.one(compareCluster)).is_known));
    if (isWell) {
      if (verdict === 'whole') now.log.warn(cluster, 'a standby took over that has everything: jobs go on');
      isTold = false;
      afterwards(now, () => {
        Object.assign(watch, { here: cluster, wasKnown: true, unsureSinceMs: null });
      });
      return true;
    }
    if (mayHearMore(watch, verdict)) return false;
    await now.db.run(notice, { now: now.clock.now() });
    // From then on it is somebody's word that counts.
    afterwards(now, () => {
      watch.here = cluster;
    });
    if (!isTold)
      now.log.error(
        cluster,
        'the database was recovered, failed over or copied, and what was done since is not known: no jobs are done until innkeeper note-recovery says what it was',
      );
    isTold = true;
    return false;
  };
}

/** What is written may be taken back together with the transaction that it is part of. */
function afterwards({ db }: Context, then: () => void): void {
  if ('afterCommit' in db) (db as TxContext['db']).afterCommit(then);
  else then();
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
