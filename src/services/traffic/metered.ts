import { type TrafficRow, type TrafficTerms, trafficFromRow } from '../../catalog/index.ts';
import { readPercentilesOf, readTrafficOf } from '../../fleet/index.ts';
import { type Context, dayOf, statement } from '../../platform/index.ts';
import { includedOf, type Share, shareOfMonth, type Used } from './reckon.ts';

/** A service whose traffic is billed. */
export interface Metered {
  id: number;
  organizationId: number;
  currency: string;
  terms: TrafficTerms;
  /** Its first day that was paid for. */
  beganOn: string;
  /** Its last day. */
  endedOn: string | null;
  /** Of one that has ended, the last day that was paid for and of which nothing was given back. */
  paidUntil: string | null;
}

// What is given back of days that were left goes back when the service ends, and not before.
const meteredById = statement<
  {
    id: number;
    organization_id: number;
    currency: string;
    traffic: TrafficRow;
    created_at: Date;
    began_on: string | null;
    terminated_at: Date | null;
    paid_until: string | null;
  },
  { id: number }
>(
  'services.metered',
  `select s.id, s.organization_id, s.currency, s.traffic, s.created_at, s.terminated_at,
     (select min(p.starts_on) from service_periods p where p.service_id = s.id) as began_on,
     (select max(p.ends_on) - 1 from service_periods p join invoices i on i.id = p.invoice_id
      where p.service_id = s.id and i.status in ('paid', 'partially_refunded')
        and (i.date_refunded is null or i.date_refunded < s.terminated_at)) as paid_until
   from services s where s.id = :id and s.traffic is not null`,
);

/** Null: nothing of its traffic is billed. */
export async function findMetered(ctx: Context, id: number): Promise<Metered | null> {
  const row = await ctx.db.maybe(meteredById, { id });
  const terms = trafficFromRow(row?.traffic ?? null);
  if (row === null || terms === null) return null;
  const { organization_id: organizationId, currency } = row;
  return {
    ...{ id, organizationId, currency, terms, beganOn: row.began_on ?? dayOf(row.created_at) },
    endedOn: row.terminated_at === null ? null : dayOf(row.terminated_at),
    paidUntil: row.terminated_at === null ? null : row.paid_until,
  };
}

/** What a month includes was paid for with its days; a rate costs only those on which it was had. */
export function shareOf({ terms, beganOn, endedOn, paidUntil }: Metered, month: string): Share {
  const isPaidLonger = endedOn !== null && paidUntil !== null && paidUntil > endedOn;
  return shareOfMonth(month, beganOn, isPaidLonger && terms.billing === 'total' ? paidUntil : endedOn);
}

/**
 * What a month came to until now; the percentiles where the terms go by them. Null: nobody knows them, though there was traffic, as where the
 * switch was silent for longer than a day at a time.
 */
export async function usedIn(ctx: Context, { id, terms }: Metered, month: string): Promise<Used | null> {
  const { receivedBytes, sentBytes } = await readTrafficOf(ctx, id, month);
  const totalBytes = receivedBytes + sentBytes;
  if (terms.billing === 'total') return { totalBytes, receivedPercentileBytes: 0, sentPercentileBytes: 0 };
  const { receivedMbps, sentMbps } = await readPercentilesOf(ctx, id, month);
  if (totalBytes > 0 && (receivedMbps === null || sentMbps === null)) return null;
  const bytesOf = (mbps: number | null) => Math.round((mbps ?? 0) * 37_500_000);
  return {
    ...{ totalBytes, receivedPercentileBytes: bytesOf(receivedMbps) },
    sentPercentileBytes: bytesOf(sentMbps),
  };
}

/** How the traffic of a service is billed, and what this month includes of it in TB; null where it is billed otherwise, or not at all. */
export async function readTrafficTerms(ctx: Context, serviceId: number) {
  const metered = await findMetered(ctx, serviceId);
  if (metered === null) return { terms: null, currency: null, limitTb: null };
  const { terms, currency } = metered;
  const share = shareOf(metered, dayOf(ctx.clock.now()).slice(0, 7));
  return { terms, currency, limitTb: terms.billing === 'total' ? includedOf(terms, share) : null };
}
