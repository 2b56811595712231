import { type Queryable, statement } from './statement.ts';

// Who copies the log of what is written, and is not merely making a backup. What it does shows to few; its name, to everybody.
const standbys = statement<{ names: string[]; waited_for: string; commit: string }>(
  'database.standbys',
  `select coalesce(array_agg(application_name::text order by 1) filter (where pid is not null), '{}') as names,
     current_setting('synchronous_standby_names') as waited_for, current_setting('synchronous_commit') as commit
   from pg_stat_replication where application_name not in ('pg_basebackup', 'pg_receivewal', 'barman_receive_wal')`,
);

/**
 * What is at stake where the database has standbys and a commit waits for none of them: when one takes over, what was told to
 * customers and their banks last never happened. Null where there is no standby, or commits wait.
 */
export async function standbyRisk(db: Queryable): Promise<string | null> {
  const { names, waited_for: waitedFor, commit } = await db.one(standbys);
  const waits = waitedFor.trim() !== '' && !['off', 'local'].includes(commit);
  if (names.length === 0 || waits) return null;
  const advice =
    waitedFor.trim() === ''
      ? 'set synchronous_standby_names (of Patroni: synchronous_mode)'
      : `set synchronous_commit to on; it is ${commit}`;
  return `the standby ${names.join(', ')} is not synchronous, so paid orders and numbers of invoices are lost when it takes over: ${advice}`;
}
