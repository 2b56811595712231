/** What was given away of nodes and pools day by day, and when they are full if it goes on like that. */
import { statement, type TxContext } from '../platform/index.ts';

/** How long a day is kept: as long as somebody may ask how last quarter was. */
const keptDays = 92;
/** How far back the growth of now is looked for. */
const lookBackDays = 28;
/** Of fewer weeks that can be compared, nothing follows. */
const leastWeeks = 7;

const noteDay = statement<never, { today: string }>(
  'fleet.noteDay',
  // The most of the day: what was held for an hour by an order had to have room, too.
  `insert into fleet_days (kind, thing_id, what, day, taken)
   select 'node', n.id, each.what, :today::date, each.taken
   from nodes n, lateral (values ('memory', n.memory_mib_taken), ('disk', n.disk_gib_taken)) each (what, taken)
   where n.runs_machines
   union all
   select 'pool', p.id, 'addresses', :today::date, (select count(*) from addresses where pool_id = p.id and state <> 'free')
   from address_pools p where p.family = 4
   on conflict (kind, thing_id, what, day) do update set taken = greatest(fleet_days.taken, excluded.taken)
   where excluded.taken > fleet_days.taken`,
);
const forgetDays = statement<never, { today: string; keptDays: number }>(
  'fleet.forgetDays',
  // Days that have not come were noted by a clock that was ahead.
  'delete from fleet_days where day <= :today::date - :keptDays::int or day > :today::date',
);

/** Notes how much is given away today, and forgets what is too old. */
export async function noteDays(tx: TxContext): Promise<void> {
  const today = tx.clock.now().toISOString().slice(0, 10);
  await tx.db.run(noteDay, { today });
  await tx.db.run(forgetDays, { today, keptDays });
}

/**
 * SQL for the days until a thing is full, null when nothing says that it will be. Each day of the last four weeks is held
 * against the one a week before; the median of these weeks, a seventh of it, is what a day adds. A week evens out that
 * fewer machines are ordered on Sundays and, of a small company, on most days none; the median leaves out the one customer who
 * took forty machines at once, or gave them back.
 */
export function daysUntilFull(kind: 'node' | 'pool', id: string, what: string, free: string): string {
  return `(
    select floor(least(greatest(0, ${free}) * 7 / median, 9999))::int
    from (
      select percentile_cont(0.5) within group (order by later.taken - earlier.taken) as median, count(*) as weeks
      from fleet_days later join fleet_days earlier using (kind, thing_id, what)
      where kind = '${kind}' and thing_id = ${id} and what = '${what}' and earlier.day = later.day - 7
        and later.day > (select max(day) from fleet_days) - ${lookBackDays}
    ) growth where weeks >= ${leastWeeks} and median > 0)`;
}
