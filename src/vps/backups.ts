import { type Routine, statement, type TxContext } from '../platform/index.ts';
import { beginSystemAction } from './act.ts';
import { writeSnapshot } from './snapshots.ts';

interface Idle {
  service_id: number;
  organization_id: number;
  state: 'running' | 'stopped';
  wanted: 'running' | 'stopped';
}

const idle = `s.status = 'active' and m.state in ('running', 'stopped')
  and not exists (select 1 from vps_actions a where a.service_id = m.service_id and a.status in ('queued', 'running'))`;

// A machine that is busy now is looked at again a minute later, through the whole hour and those after it.
const dueMachines = statement<Idle>(
  'vps.dueForBackup',
  `select m.service_id, m.organization_id, m.state, m.wanted
   from machines m join services s on s.id = m.service_id
   where m.backup_enabled and ${idle}
     and m.backup_hour <= extract(hour from $1::timestamptz at time zone 'UTC')
     and (m.backed_up_at is null or m.backed_up_at < date_trunc('day', $1::timestamptz, 'UTC'))
   order by m.backed_up_at nulls first limit 4 for update of s skip locked`,
);
const surplusBackups = statement<Idle & { name: string }>(
  'vps.surplusBackups',
  `select m.service_id, m.organization_id, m.state, m.wanted, b.name
   from machines m join services s on s.id = m.service_id
   join lateral (select name from vps_snapshots where service_id = m.service_id and kind = 'backup'
     and state in ('ready', 'error') order by created_at desc offset m.backup_keep limit 1) b on true
   where m.backup_enabled and ${idle} limit 4 for update of s skip locked`,
);
const markBackedUp = statement(
  'vps.markBackedUp',
  'update machines set backed_up_at = $2 where service_id = $1',
);
const markDeleting = statement(
  'vps.markDeleting',
  `update vps_snapshots set state = 'deleting' where service_id = $1 and name = $2`,
);

/**
 * Makes the nightly backups that are due, a few at a time, and takes away the oldest beyond what is to be kept.
 * A night that was missed because the product was down is made up for later the same day.
 */
export const backupRoutine: Routine = {
  name: 'vps.backups',
  intervalMs: 60_000,
  work: async (ctx) => {
    for (const { name, ...machine } of await ctx.db.many(surplusBackups)) {
      await ctx.db.run(markDeleting, machine.service_id, name);
      await beginSystemAction(ctx, machine, 'delete_snapshot', { name, kind: 'backup' });
    }
    for (const machine of await ctx.db.many(dueMachines, ctx.clock.now())) await backUp(ctx, machine);
  },
};

async function backUp(ctx: TxContext, machine: Idle): Promise<void> {
  const now = ctx.clock.now();
  const name = `backup-${now.toISOString().slice(0, 10)}`;
  await ctx.db.run(markBackedUp, machine.service_id, now);
  await writeSnapshot(ctx, machine.organization_id, machine.service_id, name, 'backup', 'Nightly backup');
  await beginSystemAction(ctx, machine, 'create_backup', { name, kind: 'backup' });
}
