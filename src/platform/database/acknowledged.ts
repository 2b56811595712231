import type pg from 'pg';
import type { LateCommits } from './lateCommits.ts';

/** A transaction that wrote, and of whose commit somebody may have been told. */
export interface Acknowledged {
  xid: string;
  /** How far the log of what is written was when it was about to commit: whoever has that knows its `xid`. */
  lsn: string;
  /** Of which timeline that log is: a standby that takes over begins another. */
  timeline: string;
  /** Whether its commit waited for a standby. */
  waited: boolean;
}

/** What a transaction says just before its commit; one that wrote nothing has no number. */
type AboutToCommit = Omit<Acknowledged, 'xid'> & { xid: string | null };

/** Commits the transactions of a pool, and knows those of which it cannot be said yet that a later one came after them. */
export interface Commits {
  /** `hasWritten`: whether it may have; else there is nothing to wait for. `LateCommit` when it takes longer than anybody waits. */
  commit(client: pg.ClientBase, hasWritten: boolean): Promise<string>;
  /** From now on they are noted; the server tells where it is. */
  note(): void;
  /** What a server must have that has everything this pool was ever told of on a timeline; of the last two, others are forgotten. */
  acknowledged(timeline: string): readonly Acknowledged[];
}

// A commit that waits for its standby longer than a statement may would be told of although the standby lacks it.
const patiently = 'set local statement_timeout = 0';
const noting = {
  name: 'database.aboutToCommit',
  text: `select set_config('statement_timeout', '0', true), pg_current_xact_id_if_assigned()::text as xid,
    pg_current_wal_insert_lsn()::text as lsn, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline, current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') not in ('off', 'local') as waited`,
};

/** `late`: who waits for those that wait for a standby that is away. */
export function openCommits(late: LateCommits): Commits {
  let isNoting = false;
  let moment = 0;
  let told: { timeline: string; last: (Acknowledged & { at: number })[] }[] = [];

  const acknowledge = ({ xid, ...noted }: AboutToCommit, sentAt: number): void => {
    if (xid === null) return;
    moment += 1;
    const { timeline } = noted;
    const before = told.find((each) => each.timeline === timeline)?.last ?? [];
    // What was told of before this one was sent stands in the log before it: who has this one has those.
    const last = [...before.filter(({ at }) => at > sentAt), { ...noted, xid, at: moment }];
    told = [{ timeline, last }, ...told.filter((each) => each.timeline !== timeline)].slice(0, 2);
  };
  return {
    commit: async (client, hasWritten) => {
      if (!hasWritten) return (await client.query('commit')).command;
      late.requireRoom();
      moment += 1;
      const sentAt = moment;
      // Not waited for: it travels with the commit, which says so itself when the transaction has failed before.
      const about = isNoting ? client.query<AboutToCommit>(noting) : client.query<AboutToCommit>(patiently);
      about.catch(() => undefined);
      const { command } = await late.commit(client);
      const [noted] = command === 'COMMIT' && isNoting ? (await about).rows : [];
      if (noted !== undefined) acknowledge(noted, sentAt);
      return command;
    },
    note: () => {
      isNoting = true;
    },
    acknowledged: (timeline) => told.find((each) => each.timeline === timeline)?.last ?? [],
  };
}
