import { priceOfQuantity } from '../../billing/index.ts';
import { type TrafficRow, trafficRow } from '../../catalog/index.ts';
import { setTrafficSettled } from '../../fleet/index.ts';
import {
  dayOf,
  doEach,
  fail,
  notSetAside,
  type PeriodicJob,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { findMetered, type Metered, shareOf, usedIn } from './metered.ts';
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

const dueMonths = statement<Month, { until: string; now: Date; limit: number }>(
  'services.dueMonthsOfTraffic',
  `select m.service_id as id, m.organization_id as "organizationId", to_char(m.month, 'YYYY-MM') as month
   from server_traffic_months m
   where m.settled_at is null and m.month < :until::date and ${notSetAside(job, 'm.service_id')}
   order by m.month, m.service_id limit :limit`,
);
const stateOf = statement<
  { status: string; on_server: boolean; is_settled: boolean },
  { id: number; month: string }
>(
  'services.stateOfTraffic',
  `select s.status, s.on_server, exists (select 1 from service_traffic t where t.service_id = s.id and t.month = :month::date) as is_settled
   from services s where s.id = :id`,
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
    isUnknown: boolean;
    now: Date;
  }
>(
  'services.settleMonthOfTraffic',
  `insert into service_traffic (service_id, organization_id, month, currency, terms, used_bytes, over_thousandths, amount_minor, is_unknown,
     settled_at)
   values (:serviceId, :organizationId, :month::date, :currency, :terms::jsonb, :used, :over, :amountMinor, :isUnknown, :now)
   on conflict (service_id, month) do nothing`,
);

/** Settles months that are over, a batch at once: what each came to beyond what is included waits for the next invoice of its service. */
export const settleTrafficPeriodicJob: PeriodicJob = {
  name: job,
  intervalMs: 600_000,
  work: async (ctx) => {
    const tx = { ...ctx, actor: systemActor };
    const now = tx.clock.now();
    const until = `${dayOf(new Date(now.getTime() - settleAfterMs)).slice(0, 7)}-01`;
    const due = await tx.db.many(dueMonths, { until, now, limit: batch });
    const done = await doEach(tx, job, due, (one, { id, month }) => settleDue(one, id, month));
    return due.length === batch && done.length > 0 ? 'more' : 'done';
  },
};

/** What has ended was settled then, but for what nobody could reckon: what its server carries until it is wiped is nobody's. */
async function settleDue(tx: TxContext, serviceId: number, month: string): Promise<void> {
  const state = await tx.db.maybe(stateOf, { id: serviceId, month: `${month}-01` });
  const metered = state?.on_server === true && !state.is_settled ? await findMetered(tx, serviceId) : null;
  if (metered !== null) {
    const isRunning = state?.status === 'active' || state?.status === 'suspended';
    const wasHad = metered.endedOn === null || metered.endedOn >= `${month}-01`;
    if (isRunning || (wasHad && (await usedIn(tx, metered, month)) === null))
      await settleMonth(tx, metered, month);
  }
  await setTrafficSettled(tx, serviceId, month);
}

/** Settles all that is open of a service that has ended, this month as well; one of which nobody knows the 95th percentile is settled once it is over. */
export async function settleRest(tx: TxContext, serviceId: number): Promise<void> {
  const metered = await findMetered(tx, serviceId);
  if (metered === null) return;
  for (const { month } of await tx.db.many(unsettledOf, { serviceId }))
    if ((await usedIn(tx, metered, month)) !== null) await settleMonth(tx, metered, month);
}

/** What nobody knows the 95th percentile of is asked for by nobody, and is among what needs a person for a while: staff invoices it by hand, or lets it be. */
async function settleMonth(tx: TxContext, metered: Metered, month: string): Promise<void> {
  const { id: serviceId, terms, organizationId, currency } = metered;
  const all = await usedIn(tx, metered, month);
  const used = all === null ? 0 : countedBytes(terms, all);
  const over = all === null ? 0 : overThousandths(terms, used, shareOf(metered, month));
  const amountMinor = priceOfQuantity(over, terms.priceMinor);
  if (amountMinor === null) throw fail('amount_too_large');
  await tx.db.run(insertMonth, {
    ...{ serviceId, organizationId, month: `${month}-01`, currency, terms: trafficRow(terms) },
    ...{ used, over, amountMinor, isUnknown: all === null, now: tx.clock.now() },
  });
}
