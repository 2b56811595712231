import { partOf } from '../src/platform/index.ts';
import { chartParts, type Period, resolutions } from '../src/vps/chartParts.ts';
import { type OnDatabase, sql } from './sql.ts';

/** What a machine did at some moments; each of them has what is said of all. */
export interface Points {
  serviceId: number;
  organizationId: number;
  period?: Period;
  times: readonly Date[];
  cpu?: number;
  mem?: number;
  maxmem?: number;
  diskRead?: number;
  diskWrite?: number;
  netin?: number;
  netout?: number;
}

/** Writes points of a machine's charts, over those of these moments. */
export async function putPoints(
  product: OnDatabase,
  { serviceId, organizationId, period = 'hour', times, ...of }: Points,
): Promise<void> {
  const { cpu = 1, mem = 1, maxmem = 1, diskRead = 1, diskWrite = 1, netin = 1, netout = 1 } = of;
  await sql(
    product,
    `insert into vps_charts (service_id, organization_id, interval_s, time, part, cpu, mem, maxmem, disk_read, disk_write, netin, netout)
     select $1, $2, $3, p.time, p.part, $6, $7, $8, $9, $10, $11, $12 from unnest($4::timestamptz[], $5::smallint[]) p(time, part)
     on conflict (service_id, time, interval_s, part) do update set organization_id = excluded.organization_id, cpu = excluded.cpu`,
    ...[serviceId, organizationId, resolutions[period].intervalS, times],
    times.map((time) => partOf(chartParts(period), time)),
    ...[cpu, mem, maxmem, diskRead, diskWrite, netin, netout],
  );
}
