import type { MachineSample } from '../drivers/hypervisor/index.ts';
import type { Watch } from '../events/index.ts';
import { type Context, type OrganizationContext, partOf, statement } from '../platform/index.ts';
import { chartParts, chartPartsSince, type Period, resolutions } from './chartParts.ts';
import { serviceIdOf } from './machine.ts';
import { requireVps } from './queries.ts';
import { countingTraffic } from './traffic.ts';

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
  { serviceId: number; organizationId: number; intervalS: number; parts: number[]; since: Date }
>(
  'vps.chart',
  `select time, cpu, mem, maxmem, disk_read, disk_write, netin, netout from vps_charts
   where service_id = :serviceId and organization_id = :organizationId and interval_s = :intervalS
     and part = any(:parts::smallint[]) and time > :since
   order by time`,
);

const insertSamples = statement<
  never,
  {
    intervalS: number;
    serviceIds: number[];
    times: Date[];
    parts: number[];
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
  `insert into vps_charts (service_id, organization_id, interval_s, time, part, cpu, mem, maxmem, disk_read, disk_write,
     netin, netout)
   select m.service_id, m.organization_id, :intervalS, s.time, s.part, s.cpu, s.mem, s.maxmem, s.disk_read,
     s.disk_write, s.netin, s.netout
   from unnest(:serviceIds::bigint[], :times::timestamptz[], :parts::smallint[], :cpu::real[], :mem::bigint[],
       :maxmem::bigint[], :diskRead::real[], :diskWrite::real[], :netin::real[], :netout::real[])
     as s(service_id, time, part, cpu, mem, maxmem, disk_read, disk_write, netin, netout)
   join machines m on m.service_id = s.service_id
   on conflict do nothing`,
);

/** Real samples of a machine over a period, oldest first. Rates are per second, `cpu` is per cent of all cores. */
export async function readCharts(ctx: OrganizationContext, id: number, period: Period) {
  await requireVps(ctx, id);
  const { intervalS, keepS } = resolutions[period];
  const now = ctx.clock.now();
  const since = new Date(now.getTime() - keepS * 1_000);
  const parts = chartPartsSince(period, since, now);
  const { organizationId } = ctx;
  const points = await ctx.db.many(pointsOf, { serviceId: id, organizationId, intervalS, parts, since });
  return { interval_s: intervalS, points };
}

const samplesSince = statement<
  Point & { service_id: number; organization_id: number },
  { ids: number[]; moments: Date[]; intervalS: number; parts: number[] }
>(
  'vps.samplesSince',
  `select p.service_id, s.organization_id, p.time, p.cpu, p.mem, p.maxmem, p.disk_read, p.disk_write, p.netin, p.netout
   from unnest(:ids::bigint[], :moments::timestamptz[]) as w(id, since)
   join vps_charts p on p.service_id = w.id and p.interval_s = :intervalS and p.part = any(:parts::smallint[])
     and p.time > w.since
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
    const moments = watched.map(({ since }) => since);
    const first = new Date(Math.min(...moments.map(Number)));
    const points = await ctx.db.many(samplesSince, {
      ids: watched.map(({ id }) => id),
      moments,
      intervalS,
      parts: chartPartsSince('hour', first, ctx.clock.now()),
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

const coresOnNodes = statement<{ service_id: number; cpu_cores: number }, { nodeIds: readonly number[] }>(
  'vps.coresOnNodes',
  'select service_id, cpu_cores from machines where node_id = any(:nodeIds::bigint[])',
);

/** Takes a look at machines. `finish` writes down what was only counted. */
export type Sampler = (() => Promise<void>) & { finish(): Promise<void> };

/** Samples every running machine of some nodes, all of them in one pass and one statement. */
export function createSampler(
  ctx: Context,
  nodeIds: () => readonly number[],
  sample: () => Promise<MachineSample[]>,
): Sampler {
  let last = new Map<string, MachineSample>();
  const traffic = countingTraffic(ctx);
  const take = async () => {
    const samples = await sample();
    if (samples.length === 0 && last.size === 0) return traffic.add([]);
    const cores = new Map(
      (await ctx.db.many(coresOnNodes, { nodeIds: nodeIds() })).map((row) => [row.service_id, row.cpu_cores]),
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
    // Of one that was not told of this time, as while its member of a cluster is silent, the next look counts all since the last one.
    const unseen = [...last].filter(([id]) => cores.has(serviceIdOf(id) ?? 0));
    last = new Map([...unseen, ...samples.map((each) => [each.id, each] as const)]);
    if (rows.length > 0) await writeSamples(ctx, rows);
    await traffic.add(rows);
  };
  return Object.assign(take, { finish: traffic.finish });
}

async function writeSamples(ctx: Context, rows: (Point & { serviceId: number })[]): Promise<void> {
  await ctx.db.run(insertSamples, {
    intervalS: resolutions.hour.intervalS,
    serviceIds: rows.map((row) => row.serviceId),
    times: rows.map((row) => row.time),
    parts: rows.map((row) => partOf(chartParts('hour'), row.time)),
    cpu: rows.map((row) => row.cpu),
    mem: rows.map((row) => Math.round(row.mem)),
    maxmem: rows.map((row) => Math.round(row.maxmem)),
    diskRead: rows.map((row) => row.disk_read),
    diskWrite: rows.map((row) => row.disk_write),
    netin: rows.map((row) => row.netin),
    netout: rows.map((row) => row.netout),
  });
}
