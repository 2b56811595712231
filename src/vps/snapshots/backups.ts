import { AppError, attempt, type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { beginSystemAction, noteSystemFailure } from '../actions/act.ts';
import { holdsLock } from '../actions/lock.ts';
import { inSql, openStatuses, rules } from '../states.ts';
import { backupPrefix, snapshotJobs, writeSnapshot } from './snapshots.ts';

/** Each writes a whole disk, so more at once would take the node from the machines that it is there for. */
const mostAtOnce = 4;

interface Idle {
  service_id: number;
  organization_id: number;
  node_id: number;
  state: 'running' | 'stopped';
  wanted: 'running' | 'stopped';
}

const idle = `s.status = 'active' and m.state in ${inSql(rules.create_backup.from)}
  and not exists (select 1 from vps_actions a where a.service_id = m.service_id and ${holdsLock('a')})`;

// A machine that is busy now is looked at again a minute later, through the whole hour and those after it. One that
// failed waits, so that it never takes the turns of the others.
const dueMachines = statement<Idle, { now: Date; limit: number }>(
  'vps.dueForBackup',
  `select m.service_id, m.organization_id, m.node_id, m.state, m.wanted
   from machines m join services s on s.id = m.service_id
   where m.backup_enabled and ${idle}
     and m.backup_hour <= extract(hour from :now::timestamptz at time zone 'UTC')
     and (m.backed_up_at is null or m.backed_up_at < date_trunc('day', :now::timestamptz, 'UTC')
       or m.backed_up_at > :now::timestamptz + interval '1 minute')
     and (m.backup_tried_at is null or m.backup_tried_at <= :now::timestamptz - interval '1 hour'
       or m.backup_tried_at > :now::timestamptz + interval '1 minute')
   order by m.backed_up_at nulls first
   limit greatest(0, :limit::int - (select count(*) from vps_actions
     where command = 'create_backup' and status in ${inSql(openStatuses)}))
   for update of s skip locked`,
);
// What failed is no backup: it takes no place of one that is good, and goes when there is a newer one, or too many like it.
const surplusBackups = statement<Idle & { name: string }, { now: Date }>(
  'vps.surplusBackups',
  `select m.service_id, m.organization_id, m.node_id, m.state, m.wanted, b.name
   from machines m join services s on s.id = m.service_id
   join lateral (select name from (
       select name, state, created_at, count(*) filter (where state = 'ready') over newer as newer_good,
         count(*) filter (where state = 'error') over newer as newer_bad
       from vps_snapshots where service_id = m.service_id and kind = 'backup' and state in ('ready', 'error')
       window newer as (order by created_at desc, name desc rows between unbounded preceding and 1 preceding)
     ) copies
     where case state when 'ready' then newer_good >= m.backup_keep else newer_good > 0 or newer_bad >= m.backup_keep end
     order by created_at limit 1) b on true
   where m.backup_enabled and ${idle}
     and not exists (select 1 from vps_actions a where a.service_id = m.service_id and a.command = 'delete_snapshot'
       and a.status = 'error' and a.created_at > :now::timestamptz - interval '1 hour')
   limit 4 for update of s skip locked`,
);
const markBackedUp = statement<never, { serviceId: number; now: Date }>(
  'vps.markBackedUp',
  'update machines set backed_up_at = :now where service_id = :serviceId',
);
const markTried = statement<never, { serviceId: number; now: Date }>(
  'vps.markBackupTried',
  'update machines set backup_tried_at = :now where service_id = :serviceId',
);
const markDeleting = statement<never, { serviceId: number; name: string }>(
  'vps.markDeleting',
  `update vps_snapshots set state = 'deleting' where service_id = :serviceId and name = :name`,
);

/**
 * Makes the nightly backups that are due, a few at a time, and takes away the oldest beyond what is to be kept.
 * A night that was missed because the product was down is made up for later the same day.
 */
export const backupPeriodicJob: PeriodicJob = {
  name: 'vps.backups',
  intervalMs: 60_000,
  work: async (ctx) => {
    const now = ctx.clock.now();
    for (const { name, ...machine } of await ctx.db.many(surplusBackups, { now })) {
      await apart(ctx, machine, (one) => dropBackup(one, machine, name));
    }
    for (const machine of await ctx.db.many(dueMachines, { now, limit: mostAtOnce })) {
      await apart(ctx, machine, (one) => backUp(one, machine));
    }
  },
};

/** Does what is to be done for one machine; when it fails, the others keep what was done for them. */
async function apart(
  ctx: TxContext,
  { service_id: serviceId }: Idle,
  work: (ctx: TxContext) => Promise<void>,
): Promise<void> {
  await attempt(ctx, work).catch(async (error: Error) => {
    await ctx.db.run(markTried, { serviceId, now: ctx.clock.now() });
    ctx.log.warn({ service: serviceId, err: error.message }, 'the backups of a machine could not be seen to');
  });
}

async function dropBackup(ctx: TxContext, machine: Idle, name: string): Promise<void> {
  await ctx.db.run(markDeleting, { serviceId: machine.service_id, name });
  await beginSystemAction(ctx, machine, snapshotJobs.delete_snapshot, { name, kind: 'backup' });
}

async function backUp(ctx: TxContext, machine: Idle): Promise<void> {
  const now = ctx.clock.now();
  const name = `${backupPrefix}${now.toISOString().slice(0, 10)}`;
  await ctx.db.run(markBackedUp, { serviceId: machine.service_id, now });
  const { organization_id: organizationId, service_id: serviceId } = machine;
  const refusal = await attempt(ctx, (one) =>
    writeSnapshot(one, organizationId, serviceId, name, 'backup', 'Nightly backup'),
  ).then(() => null, onlyNoSpace);
  if (refusal !== null) return noteSystemFailure(ctx, machine, 'create_backup', refusal);
  await beginSystemAction(ctx, machine, snapshotJobs.create_backup, { name, kind: 'backup' });
}

/** Without room the machine is as well as before; its owner reads of it in the history, and it has its turn tomorrow. */
function onlyNoSpace(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'no_space') return error;
  throw error;
}
