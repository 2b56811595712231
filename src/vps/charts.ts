import type { MachineSample } from '../drivers/hypervisor/index.ts';
import type { Watch } from '../events/index.ts';
import { type Context, type OrganizationContext, type PeriodicJob, statement } from '../platform/index.ts';
import { serviceIdOf } from './machine.ts';
import { requireVps } from './queries.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Resolution of each chart and how long its points are kept: some 360 points a machine and chart, no more. */
export const resolutions = {
  hour: { intervalS: 10, keepS: hour },
  day: { intervalS: 5 * minute, keepS: day },
  week: { intervalS: 30 * minute, keepS: 7 * day },
  month: { intervalS: 2 * hour, keepS: 31 * day },
  year: { intervalS: day, keepS: 366 * day },
} as const;

export type Period = keyof typeof resolutions;

export const periods = Object.keys(resolutions) as Period[];

interface Point {
  time: Date;
  cpu: number;
  mem: number;
  maxmem: number;
  disk_read: number;
  disk_write: number;
  netin: number;
  netout: number;
}

// What was measured while another organization had the machine stays with that one, here and wherever samples are read.
const pointsOf = statement<
  Point,
  { serviceId: number; organizationId: number; intervalS: number; since: Date }
>(
  'vps.chart',
  `select time, cpu, mem, maxmem, disk_read, disk_write, netin, netout from vps_samples
   where service_id = :serviceId and organization_id = :organizationId and interval_s = :intervalS and time > :since
   order by time`,
);

const insertSamples = statement<
  never,
  {
    intervalS: number;
    serviceIds: number[];
    times: Date[];
    cpu: number[];
    mem: number[];
    maxmem: number[];
    diskRead: number[];
    diskWrite: number[];
    netin: number[];
    netout: number[];
  }
>(
  'vps.insertSamples',
  `insert into vps_samples (service_id, organization_id, interval_s, time, cpu, mem, maxmem, disk_read, disk_write,
     netin, netout)
   select m.service_id, m.organization_id, :intervalS, s.time, s.cpu, s.mem, s.maxmem, s.disk_read,
     s.disk_write, s.netin,
     s.netout
   from unnest(:serviceIds::bigint[], :times::timestamptz[], :cpu::real[], :mem::bigint[], :maxmem::bigint[],
       :diskRead::real[], :diskWrite::real[], :netin::real[], :netout::real[])
     as s(service_id, time, cpu, mem, maxmem, disk_read, disk_write, netin, netout)
   join machines m on m.service_id = s.service_id
   on conflict do nothing`,
);

// A coarse point is the mean of the finer points in its interval; written again it is the same. The one in which a machine goes to
// another organization is of whoever has it at its end, and of what was measured since.
const rollUp = statement<never, { fineS: number; coarseS: number; from: Date; until: Date }>(
  'vps.rollUp',
  `insert into vps_samples (service_id, organization_id, interval_s, time, cpu, mem, maxmem, disk_read, disk_write,
     netin, netout)
   select service_id, organization_id, :coarseS, bucket, avg(cpu), avg(mem)::bigint, max(maxmem), avg(disk_read),
     avg(disk_write), avg(netin), avg(netout)
   from (select of_bucket.*, first_value(organization_id) over (partition by service_id, bucket order by time desc) as last_of
         from (select *, date_bin(make_interval(secs => :coarseS), time, 'epoch'::timestamptz) as bucket
               from vps_samples where interval_s = :fineS and time >= :from and time < :until) of_bucket) fine
   where organization_id = last_of
   group by service_id, organization_id, bucket
   on conflict (service_id, interval_s, time) do update set organization_id = excluded.organization_id, cpu = excluded.cpu, mem = excluded.mem,
     maxmem = excluded.maxmem, disk_read = excluded.disk_read, disk_write = excluded.disk_write,
     netin = excluded.netin, netout = excluded.netout`,
);

const countTraffic = statement<never, { now: Date; serviceIds: number[]; bytes: number[] }>(
  'vps.countTraffic',
  `insert into vps_traffic as t (service_id, organization_id, month, bytes)
   select m.service_id, m.organization_id, date_trunc('month', :now::timestamptz, 'UTC')::date, s.bytes
   from unnest(:serviceIds::bigint[], :bytes::bigint[]) as s(service_id, bytes)
     join machines m on m.service_id = s.service_id
   on conflict (service_id, month) do update set bytes = t.bytes + excluded.bytes`,
);

const dropOld = statement<never, { intervalS: number; before: Date }>(
  'vps.dropOldSamples',
  'delete from vps_samples where interval_s = :intervalS and time < :before',
);

/** Real samples of a machine over a period, oldest first. Rates are per second, `cpu` is per cent of all cores. */
export async function readCharts(ctx: OrganizationContext, id: number, period: Period) {
  await requireVps(ctx, id);
  const { intervalS, keepS } = resolutions[period];
  const since = new Date(ctx.clock.now().getTime() - keepS * 1_000);
  const { organizationId } = ctx;
  const points = await ctx.db.many(pointsOf, { serviceId: id, organizationId, intervalS, since });
  return { interval_s: intervalS, points };
}

const samplesSince = statement<
  Point & { service_id: number; organization_id: number },
  { ids: number[]; moments: Date[]; intervalS: number }
>(
  'vps.samplesSince',
  `select p.service_id, s.organization_id, p.time, p.cpu, p.mem, p.maxmem, p.disk_read, p.disk_write, p.netin, p.netout
   from unnest(:ids::bigint[], :moments::timestamptz[]) as w(id, since)
   join vps_samples p on p.service_id = w.id and p.interval_s = :intervalS and p.time > w.since
   join services s on s.id = p.service_id order by p.time`,
);

/** The newest samples of a machine, for who has its page open. */
export const sampleWatch: Watch = {
  kind: 'vps',
  event: 'vps.sample',
  permission: 'vps.read',
  everyMs: 2_000,
  require: requireVps,
  since: async (ctx, watched) => {
    const { intervalS } = resolutions.hour;
    const points = await ctx.db.many(samplesSince, {
      ids: watched.map(({ id }) => id),
      moments: watched.map(({ since }) => since),
      intervalS,
    });
    return points.map(({ service_id: id, organization_id: organizationId, time, ...sample }) => ({
      ...{ id, organizationId, time, sample },
    }));
  },
};

/** Turns counters into rates; the first look at a machine, and the first after its restart, gives none. */
export function rateBetween(
  before: MachineSample,
  now: MachineSample,
  cpuCores: number,
): Omit<Point, 'time'> | null {
  const seconds = (now.at.getTime() - before.at.getTime()) / 1_000;
  if (seconds <= 0 || before.startedAt.getTime() !== now.startedAt.getTime()) return null;
  const rate = (from: number, to: number) => Math.max(0, to - from) / seconds;
  return {
    cpu: Math.min(100, rate(before.cpuMs, now.cpuMs) / 10 / cpuCores),
    mem: now.memoryUsedBytes,
    maxmem: now.memoryTotalBytes,
    disk_read: rate(before.diskReadBytes, now.diskReadBytes),
    disk_write: rate(before.diskWrittenBytes, now.diskWrittenBytes),
    netin: rate(before.netInBytes, now.netInBytes),
    netout: rate(before.netOutBytes, now.netOutBytes),
  };
}

const coresOnNode = statement<{ service_id: number; cpu_cores: number }, { nodeId: number }>(
  'vps.coresOnNode',
  'select service_id, cpu_cores from machines where node_id = :nodeId',
);

/** Samples every running machine of a node, all of them in one pass and one statement. */
export function createSampler(
  ctx: Context,
  nodeId: number,
  sample: () => Promise<MachineSample[]>,
): () => Promise<void> {
  let last = new Map<string, MachineSample>();
  return async () => {
    const samples = await sample();
    const cores = new Map(
      (await ctx.db.many(coresOnNode, { nodeId })).map((row) => [row.service_id, row.cpu_cores]),
    );
    const rows = samples.flatMap((now) => {
      const serviceId = serviceIdOf(now.id);
      const before = last.get(now.id);
      if (serviceId === null || before === undefined) return [];
      const rates = rateBetween(before, now, cores.get(serviceId) ?? 1);
      if (rates === null) return [];
      const bytes = now.netInBytes + now.netOutBytes - before.netInBytes - before.netOutBytes;
      return [{ serviceId, time: now.at, bytes: Math.max(0, bytes), ...rates }];
    });
    last = new Map(samples.map((each) => [each.id, each]));
    if (rows.length > 0) await writeSamples(ctx, rows);
  };
}

async function writeSamples(
  ctx: Context,
  rows: (Point & { serviceId: number; bytes: number })[],
): Promise<void> {
  await ctx.db.run(insertSamples, {
    intervalS: resolutions.hour.intervalS,
    serviceIds: rows.map((row) => row.serviceId),
    times: rows.map((row) => row.time),
    cpu: rows.map((row) => row.cpu),
    mem: rows.map((row) => Math.round(row.mem)),
    maxmem: rows.map((row) => Math.round(row.maxmem)),
    diskRead: rows.map((row) => row.disk_read),
    diskWrite: rows.map((row) => row.disk_write),
    netin: rows.map((row) => row.netin),
    netout: rows.map((row) => row.netout),
  });
  await ctx.db.run(countTraffic, {
    now: ctx.clock.now(),
    serviceIds: rows.map((row) => row.serviceId),
    bytes: rows.map((row) => row.bytes),
  });
}

/** Keeps charts at their resolutions in bounded space: coarse points from fine ones, then old ones go. */
export const chartPeriodicJob: PeriodicJob = {
  name: 'vps.charts',
  intervalMs: 60_000,
  work: async (ctx) => {
    const now = ctx.clock.now().getTime();
    const steps = periods.map((period) => resolutions[period]);
    for (const [index, coarse] of steps.entries()) {
      const fine = steps[index - 1];
      if (!fine) continue;
      // From the interval before this one, so that its last points are counted too.
      const from = (Math.floor(now / 1_000 / coarse.intervalS) - 1) * coarse.intervalS * 1_000;
      await ctx.db.run(rollUp, {
        fineS: fine.intervalS,
        coarseS: coarse.intervalS,
        from: new Date(from),
        until: new Date(now),
      });
    }
    for (const { intervalS, keepS } of steps) {
      await ctx.db.run(dropOld, { intervalS, before: new Date(now - keepS * 1_000) });
    }
  },
};
