import { statement, type TxContext } from '../platform/index.ts';
import { chartPartsInSql, partInSql, periods, resolutions } from './chartParts.ts';

// Whole machines at once, so that no mean is reckoned from a part of what it is made of.
const moveMachines = statement<
  { last: number | null },
  { after: number; machines: number; intervals: number[]; since: Date[]; parts: number[]; partCount: number }
>(
  'vps.moveSamples',
  `with taken as (
     select distinct service_id from vps_samples where service_id > :after order by service_id limit :machines),
   gone as (
     delete from vps_samples s using taken where s.service_id = taken.service_id returning s.*),
   kept as (
     insert into vps_charts (service_id, organization_id, interval_s, time, part, cpu, mem, maxmem, disk_read, disk_write,
       netin, netout)
     select service_id, organization_id, g.interval_s, time, ${partInSql('time').replace(':partS', 'p.part_s')}, cpu, mem, maxmem,
       disk_read, disk_write, netin, netout
     from gone g join unnest(:intervals::int[], :since::timestamptz[], :parts::int[]) p(interval_s, since, part_s)
       on p.interval_s = g.interval_s and g.time > p.since
     order by service_id, time
     on conflict do nothing)
   select max(service_id) as last from taken`,
);

/** Of each some eighteen hundred points. */
const machinesAtOnce = 50;

/**
 * Moves what an older version wrote to where points stand now: machine by machine, while the product runs. A process of that version
 * that goes on writes there still, so it is looked at again and again; there is nothing in the end.
 */
export function movingSamples(): (tx: TxContext, now: Date) => Promise<'more' | undefined> {
  // What is behind it was moved already; to look from the first one on would pass over what is gone each time.
  let after = 0;
  return async (tx, now) => {
    const steps = periods.map((period) => ({ ...resolutions[period], ...chartPartsInSql(period) }));
    const { last } = await tx.db.one(moveMachines, {
      ...{ after, machines: machinesAtOnce, partCount: steps[0]?.partCount ?? 0 },
      intervals: steps.map(({ intervalS }) => intervalS),
      since: steps.map(({ keepS }) => new Date(now.getTime() - keepS * 1_000)),
      parts: steps.map(({ partS }) => partS),
    });
    after = last ?? 0;
    return last === null ? undefined : 'more';
  };
}
