import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { type Resolution, resolutions, trafficPartsSince } from './resolutions.ts';

/** Bytes that a server received and sent. */
export interface ServerTraffic {
  receivedBytes: number;
  sentBytes: number;
}

/** What was carried in an interval that began then. */
export interface TrafficPoint extends ServerTraffic {
  time: Date;
  /** For how long of the interval that is known already. */
  seconds: number;
}

/** Bits a second, in millions, that are exceeded in no more than a twentieth of the intervals of five minutes; null: none was measured. */
export interface Percentiles {
  receivedMbps: number | null;
  sentMbps: number | null;
}

/** A switch is read every five minutes, at most a minute late: what ended longer ago is known whole. */
const knownAfterMs = 6 * 60_000;

const pointsOf = statement<
  { at: number; received: number; sent: number },
  {
    serviceId: number;
    organizationId: number;
    intervalS: number;
    stepS: number;
    parts: number[];
    since: Date;
    until: Date;
  }
>(
  'fleet.trafficPoints',
  `select floor(extract(epoch from time) / :stepS::int)::bigint * :stepS::int as at, sum(received_bytes)::bigint as received,
     sum(sent_bytes)::bigint as sent
   from server_traffic
   where service_id = :serviceId and organization_id = :organizationId and interval_s = :intervalS
     and part = any(:parts::smallint[]) and time >= :since and time < :until
   group by 1 order by 1`,
);
const monthOf = statement<ServerTraffic, { serviceId: number; month: string }>(
  'fleet.monthOfTraffic',
  `select received_bytes as "receivedBytes", sent_bytes as "sentBytes" from server_traffic_months
   where service_id = :serviceId and month = :month::date`,
);
// The row of a month is of whoever has the service at its end.
const ownMonthOf = statement<
  ServerTraffic,
  { serviceId: number; organizationId: number; intervalS: number; parts: number[]; from: Date; until: Date }
>(
  'fleet.ownMonthOfTraffic',
  `select coalesce(sum(received_bytes), 0)::bigint as "receivedBytes", coalesce(sum(sent_bytes), 0)::bigint as "sentBytes"
   from server_traffic
   where service_id = :serviceId and organization_id = :organizationId and interval_s = :intervalS
     and part = any(:parts::smallint[]) and time >= :from and time < :until`,
);
const percentilesOf = statement<
  { received: number | null; sent: number | null },
  {
    serviceId: number;
    organizationId: number | null;
    intervalS: number;
    parts: number[];
    from: Date;
    until: Date;
  }
>(
  'fleet.trafficPercentiles',
  `select percentile_disc(0.95) within group (order by received_bytes) as received,
     percentile_disc(0.95) within group (order by sent_bytes) as sent
   from server_traffic
   where service_id = :serviceId and interval_s = :intervalS and part = any(:parts::smallint[]) and time >= :from and time < :until
     and (:organizationId::bigint is null or organization_id = :organizationId)`,
);

/**
 * What the server of a service carried while this organization had it, in steps of so many seconds, the oldest first. A step of which nobody
 * knows anything is missing.
 */
export async function listTraffic(
  ctx: Context,
  { serviceId, organizationId }: { serviceId: number; organizationId: number },
  { resolution, stepS, lastS }: { resolution: Resolution; stepS: number; lastS: number },
): Promise<TrafficPoint[]> {
  const now = ctx.clock.now();
  const { intervalS } = resolutions[resolution];
  const stepMs = stepS * 1_000;
  const since = new Date(Math.ceil((now.getTime() - lastS * 1_000) / stepMs) * stepMs);
  // Of longer intervals the one that lasts is drawn as far as it has come.
  const until = resolution === 'minutes' ? knownUntil(now) : now;
  const parts = trafficPartsSince(resolution, since, now);
  const rows = await ctx.db.many(pointsOf, {
    ...{ serviceId, organizationId, intervalS, stepS, parts, since, until },
  });
  return rows.map(({ at, received, sent }) => ({
    time: new Date(at * 1_000),
    seconds: Math.min(stepS, until.getTime() / 1_000 - at),
    ...{ receivedBytes: received, sentBytes: sent },
  }));
}

function knownUntil(now: Date): Date {
  const intervalMs = resolutions.minutes.intervalS * 1_000;
  return new Date(Math.floor((now.getTime() - knownAfterMs) / intervalMs) * intervalMs);
}

/** All that the server of a service carried in a month of UTC, `YYYY-MM`. */
export async function readTrafficOf(ctx: Context, serviceId: number, month: string): Promise<ServerTraffic> {
  const found = await ctx.db.maybe(monthOf, { serviceId, month: `${month}-01` });
  return found ?? { receivedBytes: 0, sentBytes: 0 };
}

const setSettled = statement<never, { serviceId: number; month: string; now: Date }>(
  'fleet.setTrafficSettled',
  `update server_traffic_months set settled_at = :now
   where service_id = :serviceId and month = :month::date and settled_at is null`,
);

/** Nothing is to be reckoned of a month (`YYYY-MM`) any more; what is counted of it later changes nothing. */
export async function setTrafficSettled(tx: TxContext, serviceId: number, month: string): Promise<void> {
  await tx.db.run(setSettled, { serviceId, month: `${month}-01`, now: tx.clock.now() });
}

/** The same while this organization had it, by the day, of a month whose days are kept. */
export async function readOwnTrafficOf(
  ctx: Context,
  { serviceId, organizationId }: { serviceId: number; organizationId: number },
  month: string,
): Promise<ServerTraffic> {
  const { intervalS } = resolutions.days;
  const from = new Date(`${month}-01T00:00:00Z`);
  const until = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  const parts = trafficPartsSince('days', from, until);
  return ctx.db.one(ownMonthOf, { serviceId, organizationId, intervalS, parts, from, until });
}

/** The 95th percentiles of a month of UTC, `YYYY-MM`, until now, of what came while an organization had it, or of all; of one that is longer ago than its intervals are kept nobody knows. */
export async function readPercentilesOf(
  ctx: Context,
  serviceId: number,
  month: string,
  organizationId: number | null = null,
): Promise<Percentiles> {
  const { intervalS } = resolutions.minutes;
  const from = new Date(`${month}-01T00:00:00Z`);
  const end = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1);
  const until = new Date(Math.min(end, knownUntil(ctx.clock.now()).getTime()));
  const parts = trafficPartsSince('minutes', from, until);
  const { received, sent } = await ctx.db.one(percentilesOf, {
    ...{ serviceId, organizationId, intervalS, parts, from, until },
  });
  const mbps = (bytes: number | null) => (bytes === null ? null : (bytes * 8) / intervalS / 1_000_000);
  return { receivedMbps: mbps(received), sentMbps: mbps(sent) };
}
