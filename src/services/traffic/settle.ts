import { priceOfQuantity } from '../../billing/index.ts';
import { type TrafficRow, trafficRow } from '../../catalog/index.ts';
import {
  doEach,
  fail,
  notSetAside,
  type PeriodicJob,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { findMetered, shareOf, usedIn } from './metered.ts';
import { countedBytes, overThousandths } from './reckon.ts';

const job = 'services.settleTraffic';
const batch = 100;
/** So long after its end a month is settled: a switch that was silent then has been read, mostly. */
const settleAfterMs = 24 * 3_600_000;

interface Month {
  id: number;
  organizationId: number;
  month: string;
}

// What has ended was settled then: what its server carries until it is wiped is nobody's.
const dueMonths = statement<Month, { before: Date; now: Date; limit: number }>(
  'services.dueMonthsOfTraffic',
  `select s.id, s.organization_id as "organizationId", to_char(m.month, 'YYYY-MM') as month
   from services s join server_traffic_months m on m.service_id = s.id
   where s.traffic is not null and s.on_server and s.status in ('active', 'suspended') and (m.month + interval '1 month')::timestamp at time zone 'UTC' <= :before
     and not exists (select 1 from service_traffic t where t.service_id = s.id and t.month = m.month)
     and ${notSetAside(job, 's.id')}
   order by s.id, m.month limit :limit`,
);
const unsettledOf = statement<{ month: string }, { serviceId: number }>(
  'services.unsettledTraffic',
  `select to_char(m.month, 'YYYY-MM') as month from server_traffic_months m where m.service_id = :serviceId
     and not exists (select 1 from service_traffic t where t.service_id = m.service_id and t.month = m.month)
   order by m.month`,
);
// The first settling counts: what is counted later is in nobody's bill.
const insertMonth = statement<
  never,
  {
    serviceId: number;
    organizationId: number;
    month: string;
    currency: string;
    terms: TrafficRow | null;
    used: number;
    over: number;
    amountMinor: number;
    now: Date;
  }
>(
  'services.settleMonthOfTraffic',
  `insert into service_traffic (service_id, organization_id, month, currency, terms, used_bytes, over_thousandths, amount_minor, settled_at)
   values (:serviceId, :organizationId, :month::date, :currency, :terms::jsonb, :used, :over, :amountMinor, :now)
   on conflict (service_id, month) do nothing`,
);

/** Settles months that are over, a batch at once: what each came to beyond what is included waits for the next invoice of its service. */
export const settleTrafficPeriodicJob: PeriodicJob = {
  name: job,
  intervalMs: 600_000,
  work: async (ctx) => {
    const tx = { ...ctx, actor: systemActor };
    const now = tx.clock.now();
    const before = new Date(now.getTime() - settleAfterMs);
    const due = await tx.db.many(dueMonths, { before, now, limit: batch });
    const done = await doEach(tx, job, due, (one, { id, month }) => settleMonth(one, id, month));
    return due.length === batch && done.length > 0 ? 'more' : 'done';
  },
};

/** Settles all that is open of a service that has ended, this month as well. */
export async function settleRest(tx: TxContext, serviceId: number): Promise<void> {
  for (const { month } of await tx.db.many(unsettledOf, { serviceId }))
    await settleMonth(tx, serviceId, month);
}

async function settleMonth(tx: TxContext, serviceId: number, month: string): Promise<void> {
  const metered = await findMetered(tx, serviceId);
  if (metered === null) return;
  const { terms, organizationId, currency } = metered;
  const used = countedBytes(terms, await usedIn(tx, metered, month));
  const over = overThousandths(terms, used, shareOf(metered, month));
  const amountMinor = priceOfQuantity(over, terms.priceMinor);
  if (amountMinor === null) throw fail('amount_too_large');
  await tx.db.run(insertMonth, {
    ...{ serviceId, organizationId, month: `${month}-01`, currency, terms: trafficRow(terms) },
    ...{ used, over, amountMinor, now: tx.clock.now() },
  });
}
