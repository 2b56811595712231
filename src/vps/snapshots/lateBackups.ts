import { type Concern, type ConcernSource, type MeasureSource, statement } from '../../platform/index.ts';

// A day, and half of one for a night that is long. Who has a copy of this morning and moves the hour to the evening has the next
// one tomorrow evening, so the hour has to have passed as well, on the day after that copy.
const late = `machines m join services s on s.id = m.service_id
   cross join lateral (select max(b.created_at) as at from vps_snapshots b
     where b.service_id = m.service_id and b.kind = 'backup' and b.state in ('ready', 'restoring')) copy
   cross join lateral (select greatest(coalesce(m.backup_wanted_at, m.created_at), copy.at) as at) last
   where m.backup_enabled and s.status = 'active' and last.at < :now::timestamptz - interval '36 hours'
     and (copy.at is null
       or date_trunc('day', copy.at, 'UTC') + make_interval(hours => 36 + m.backup_hour) < :now::timestamptz)`;

/** Machines whose owner wants nightly backups and that have missed a night. */
export const lateBackups: ConcernSource = {
  kind: 'backup.late',
  subject: 'service',
  title: 'Machines without a backup of last night',
  find: statement<Concern, { limit: number; now: Date }>(
    'vps.lateBackups',
    `select m.service_id as id, m.organization_id, last.at as since,
       m.hostname || ' has had no nightly backup since; its history says why' as message
     from ${late} order by last.at desc, m.service_id desc limit :limit`,
  ),
};

const countLate = statement<{ machines: number }, { now: Date }>(
  'vps.countLateBackups',
  `select count(*)::int as machines from ${late}`,
);

/** How many they are; it is among the first numbers that staff looks at. */
export const lateBackupMeasures: MeasureSource = {
  measures: [
    {
      name: 'backups_late',
      help: 'Machines with nightly backups switched on whose newest good one is older than 36 hours.',
    },
  ],
  read: async (ctx) => {
    const { machines } = await ctx.db.one(countLate, { now: ctx.clock.now() });
    return [{ name: 'backups_late', value: machines }];
  },
};
