import { type PeriodicJob, statement, type TxContext } from '../platform/index.ts';
import {
  chartPartsInSql,
  chartPartsSince,
  chartTable,
  type Period,
  partInSql,
  periods,
  resolutions,
  spentChartParts,
} from './chartParts.ts';
import { movingSamples } from './moveSamples.ts';

// A coarse point is the mean of the finer points in its interval; written again it is the same. The one in which a machine goes to
// another organization is of whoever has it at its end, and of what was measured since.
const rollUp = statement<
  never,
  {
    fineS: number;
    parts: number[];
    coarseS: number;
    from: Date;
    until: Date;
    partS: number;
    partCount: number;
  }
>(
  'vps.rollUp',
  `with means as (
     select service_id, organization_id, date_bin(make_interval(secs => :coarseS), time, 'epoch'::timestamptz) as bucket,
       max(time) as last, avg(cpu) as cpu, avg(mem::float8)::bigint as mem, max(maxmem) as maxmem, avg(disk_read) as disk_read,
       avg(disk_write) as disk_write, avg(netin) as netin, avg(netout) as netout
     from vps_charts where interval_s = :fineS and part = any(:parts::smallint[]) and time >= :from and time < :until
     group by service_id, organization_id, bucket)
   insert into vps_charts (service_id, organization_id, interval_s, time, part, cpu, mem, maxmem, disk_read, disk_write,
     netin, netout)
   select distinct on (service_id, bucket) service_id, organization_id, :coarseS, bucket, ${partInSql('bucket')}, cpu, mem,
     maxmem, disk_read, disk_write, netin, netout
   from means order by service_id, bucket, last desc
   on conflict (service_id, time, interval_s, part) do update set organization_id = excluded.organization_id,
     cpu = excluded.cpu, mem = excluded.mem, maxmem = excluded.maxmem, disk_read = excluded.disk_read,
     disk_write = excluded.disk_write, netin = excluded.netin, netout = excluded.netout`,
);

const lastPoint = statement<{ time: Date | null }, { intervalS: number; parts: number[] }>(
  'vps.lastPoint',
  'select max(time) as time from vps_charts where interval_s = :intervalS and part = any(:parts::smallint[])',
);

/** So long after its end the last samples of an interval have come, and it was reckoned a last time. */
const lateMs = 90_000;

/** Reckons the points of a period anew from the finer ones of the period before: those that may have changed, and those that are missing. */
async function rollUpInto(tx: TxContext, period: Period, finer: Period, now: Date): Promise<void> {
  const [coarse, fine] = [resolutions[period], resolutions[finer]];
  const coarseMs = coarse.intervalS * 1_000;
  const start = (ms: number) => Math.floor(ms / coarseMs) * coarseMs;
  const parts = chartPartsSince(period, new Date(now.getTime() - coarse.keepS * 1_000), now);
  const { time: last } = await tx.db.one(lastPoint, { intervalS: coarse.intervalS, parts });
  // Of the first interval of which there are finer points, a part may be gone already.
  const first = start(now.getTime() - fine.keepS * 1_000) + coarseMs;
  const from = new Date(Math.max(first, Math.min(start(now.getTime() - lateMs), last?.getTime() ?? first)));
  await tx.db.run(rollUp, {
    ...{ fineS: fine.intervalS, parts: chartPartsSince(finer, from, now) },
    ...{ coarseS: coarse.intervalS, from, until: now, ...chartPartsInSql(period) },
  });
}

const filledParts = statement<{ nth: number }, { intervalS: number; parts: number[] }>(
  'vps.filledChartParts',
  `select p.nth from unnest(:parts::smallint[]) p(nth)
   where exists (select 1 from vps_charts c where c.interval_s = :intervalS and c.part = p.nth) order by p.nth`,
);
const emptyPart = statement<{ done: string }, { part: string }>(
  'vps.emptyChartPart',
  'select empty_vps_charts(:part)::text as done',
);

const anyPoints = statement<{ at: Date | null }, { now: Date }>(
  'vps.anyPoints',
  `select case when exists (select 1 from machines) or exists (select 1 from vps_samples) then :now::timestamptz end as at`,
);

const moveSamples = movingSamples();

/** Keeps charts at their resolutions: coarse points from fine ones. */
export const chartPeriodicJob: PeriodicJob = {
  name: 'vps.charts',
  intervalMs: 60_000,
  due: anyPoints,
  work: async (tx) => {
    const now = tx.clock.now();
    for (const [index, period] of periods.entries()) {
      const finer = periods[index - 1];
      if (finer !== undefined) await rollUpInto(tx, period, finer, now);
    }
    return moveSamples(tx, now);
  },
};

/**
 * Empties the parts in which nothing is left that is kept. By itself, since it has to wait for a backup, which holds on to every table
 * that it has read.
 */
export const emptyChartsPeriodicJob: PeriodicJob = {
  name: 'vps.emptyCharts',
  intervalMs: 5 * 60_000,
  work: async (tx) => {
    for (const period of periods) {
      const parts = spentChartParts(period, tx.clock.now());
      const { intervalS } = resolutions[period];
      for (const { nth } of await tx.db.many(filledParts, { intervalS, parts }))
        await tx.db.many(emptyPart, { part: chartTable(period, nth) });
    }
  },
};
