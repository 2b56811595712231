import { findLastRestore, statement, type TxContext } from '../../platform/index.ts';
import { partCount, resolutionNames, resolutions, trafficParts } from './resolutions.ts';

/** What went through a port while one service had the server behind it, as that service received and sent it. */
export interface Carried {
  serviceId: number;
  since: Date;
  receivedBytes: bigint;
  sentBytes: bigint;
}

/** Of longer waits for a switch there are no intervals of five minutes: a thousand ports of a month would be nine million rows. */
const mostFineS = 86_400;

/**
 * What was carried at a mean rate between two moments, from `f.from_ms` to `:untilMs`, of which what came before `at` is this part. Whole
 * bytes, cut off: what lies between two such moments adds up to all of it.
 */
const cameBefore = (bytes: string, at: string) =>
  `div(c.${bytes} * (least(greatest(${at}, c.from_ms), :untilMs::bigint) - c.from_ms), :untilMs::bigint - c.from_ms)`;
const cameBetween = (bytes: string, from: string, until: string) =>
  `sum(${cameBefore(bytes, until)} - ${cameBefore(bytes, from)})::bigint`;
const given = `jsonb_to_recordset(:carried::jsonb) c (service_id bigint, from_ms bigint, received numeric, sent numeric)`;

// In one order, since ports of two switches may be of one service. An interval in which a service goes to another organization is of
// whoever has it at its end.
const count = statement<
  never,
  {
    carried: string;
    untilMs: number;
    intervals: number[];
    mostS: number[];
    partS: number[];
    partCount: number;
  }
>(
  'fleet.countTraffic',
  `insert into server_traffic as t (service_id, organization_id, time, part, interval_s, received_bytes, sent_bytes)
   select c.service_id, s.organization_id, to_timestamp(i.from_s), mod(i.from_s / r.part_s, :partCount::bigint)::smallint, r.interval_s::int,
     ${cameBetween('received', 'i.from_s * 1000', '(i.from_s + r.interval_s) * 1000')},
     ${cameBetween('sent', 'i.from_s * 1000', '(i.from_s + r.interval_s) * 1000')}
   from ${given} join services s on s.id = c.service_id
   cross join unnest(:intervals::bigint[], :mostS::bigint[], :partS::bigint[]) r (interval_s, most_s, part_s)
   cross join lateral generate_series(greatest(c.from_ms / 1000, :untilMs::bigint / 1000 - r.most_s) / r.interval_s * r.interval_s,
     (:untilMs::bigint - 1) / 1000, r.interval_s) i (from_s)
   where r.interval_s > 300 or :untilMs::bigint - c.from_ms <= ${mostFineS}000
   group by c.service_id, s.organization_id, i.from_s, r.part_s, r.interval_s
   order by r.interval_s, c.service_id, i.from_s
   on conflict (service_id, time, interval_s, part) do update set organization_id = excluded.organization_id,
     received_bytes = t.received_bytes + excluded.received_bytes, sent_bytes = t.sent_bytes + excluded.sent_bytes`,
);
const countMonths = statement<never, { carried: string; untilMs: number }>(
  'fleet.countMonthsOfTraffic',
  `insert into server_traffic_months as t (service_id, organization_id, month, received_bytes, sent_bytes)
   select c.service_id, s.organization_id, m.month::date,
     ${cameBetween('received', 'm.from_ms', 'm.until_ms')}, ${cameBetween('sent', 'm.from_ms', 'm.until_ms')}
   from ${given} join services s on s.id = c.service_id
   cross join lateral (
     select month, (extract(epoch from month) * 1000)::bigint as from_ms,
       (extract(epoch from month + interval '1 month') * 1000)::bigint as until_ms
     from generate_series(date_trunc('month', to_timestamp(c.from_ms / 1000.0) at time zone 'UTC'),
       to_timestamp((:untilMs::bigint - 1) / 1000.0) at time zone 'UTC', interval '1 month') month) m
   group by c.service_id, s.organization_id, m.month
   order by c.service_id, m.month
   on conflict (service_id, month) do update set organization_id = excluded.organization_id,
     received_bytes = t.received_bytes + excluded.received_bytes, sent_bytes = t.sent_bytes + excluded.sent_bytes`,
);

/**
 * Counts what ports have carried until now, two statements for all of them. Where nobody knew for a while, as of a silent switch, it came at
 * its mean rate. What was read before the database was restored is not counted on: another customer may have had the server since.
 */
export async function countTraffic(tx: TxContext, carried: readonly Carried[], until: Date): Promise<void> {
  if (carried.length === 0) return;
  const restoredAt = (await findLastRestore(tx))?.restored_at ?? null;
  const counted = carried
    .filter(({ since }) => since < until && (restoredAt === null || since >= restoredAt))
    .map(({ serviceId, since, receivedBytes, sentBytes }) => ({
      ...{ service_id: serviceId, from_ms: since.getTime() },
      ...{ received: String(receivedBytes), sent: String(sentBytes) },
    }));
  if (counted.length === 0) return;
  const all = { carried: JSON.stringify(counted), untilMs: until.getTime() };
  await tx.db.run(count, {
    ...{ ...all, partCount },
    intervals: resolutionNames.map((name) => resolutions[name].intervalS),
    mostS: resolutionNames.map((name) => resolutions[name].keepS),
    partS: resolutionNames.map((name) => trafficParts(name).partMs / 1_000),
  });
  await tx.db.run(countMonths, all);
}
