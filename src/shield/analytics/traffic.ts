import { fail, type OrganizationContext, statement } from '../../platform/index.ts';
import { requireOneAddress, requireOwnAddresses } from '../owned.ts';

interface Step {
  nth: number;
  packets: number;
  bytes: number;
  dropped_packets: number;
  dropped_bytes: number;
}

const stepsOf = (table: string) =>
  `select floor(extract(epoch from time - :since::timestamptz) / :stepS::int)::int as nth, sum(packets)::bigint as packets,
     sum(bytes)::bigint as bytes, sum(dropped_packets)::bigint as dropped_packets, sum(dropped_bytes)::bigint as dropped_bytes
   from ${table} where address = :address::inet and organization_id = :organizationId
     and time >= :since::timestamptz and time < :until::timestamptz group by 1`;
type Asked = { address: string; organizationId: number; since: Date; until: Date; stepS: number };
const ofMinutes = statement<Step, Asked>('shield.trafficByMinutes', stepsOf('shield_traffic_minutes'));
const ofHours = statement<Step, Asked>('shield.trafficByHours', stepsOf('shield_traffic_hours'));

/** How wide a row is, by how long a time is asked for; both in minutes. Some 400 rows at most. */
const widths: [number, number][] = [
  [360, 1],
  [1_440, 5],
  [10_080, 30],
  [44_640, 120],
];
const day = 1_440;

export interface TrafficQuery {
  ip: string;
  unit: 'mbps' | 'pps' | 'bps';
  /** Minutes until `until`. */
  time: number;
  /** Now when absent. */
  until?: string | undefined;
}

/**
 * What came to one of the caller's addresses over `time` minutes, oldest first, as means over each interval: unix
 * seconds at its beginning, allowed, dropped. `forbidden`.
 */
export async function readTrafficOf(ctx: OrganizationContext, { ip, unit, time, until: end }: TrafficQuery) {
  const [own] = await requireOwnAddresses(ctx, requireOneAddress(ip, 'ip'), 'ip');
  const interval = widths.find(([most]) => time <= most)?.[1] ?? day;
  const stepMs = interval * 60_000;
  const now = ctx.clock.now().getTime();
  const last = Math.min(momentOf(end) ?? now, now);
  const until = Math.floor(last / stepMs + 1) * stepMs;
  const steps = Math.ceil(time / interval);
  const since = until - steps * stepMs;
  const { organizationId } = ctx;
  const rows = await ctx.db.many(interval === day ? ofHours : ofMinutes, {
    ...{ address: own?.address ?? '', organizationId, stepS: interval * 60 },
    ...{ since: new Date(since), until: new Date(until) },
  });
  const byNth = new Map(rows.map((row) => [row.nth, row]));
  const rate = ({ packets, bytes, dropped_packets, dropped_bytes }: Step): [number, number] => {
    const per = (amount: number) => Math.round(amount / (interval * 60));
    if (unit === 'pps') return [per(packets - dropped_packets), per(dropped_packets)];
    const bits = unit === 'mbps' ? 8 / 1e6 : 8;
    return [per((bytes - dropped_bytes) * bits), per(dropped_bytes * bits)];
  };
  const traffic = Array.from({ length: steps }, (_, nth) => {
    const row = byNth.get(nth);
    return [Math.floor((since + nth * stepMs) / 1_000), ...(row === undefined ? [0, 0] : rate(row))];
  });
  return { interval, traffic };
}

/** Null: none was asked for. */
function momentOf(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const moment = Date.parse(text);
  if (!Number.isNaN(moment)) return moment;
  const message = 'is no moment that there is';
  throw fail('invalid_request', { details: [{ field: 'query.until', message }] });
}
