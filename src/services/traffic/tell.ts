import { type TrafficRow, trafficFromRow } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import {
  dayOf,
  doEach,
  findHeldRestore,
  notSetAside,
  type PeriodicJob,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { trafficUsed } from '../events.ts';
import { findMetered, shareOf, usedIn } from './metered.ts';
import { countedBytes, includedOf, unitsOf } from './reckon.ts';

const job = 'services.tellOfTraffic';
const batch = 200;
/** Parts of what is included that customers are told to have used. */
const steps = [100, 80] as const;
/** The 95th percentile of fewer days of a month says little. */
const firstDays = 3;

interface Candidate {
  id: number;
  organizationId: number;
  traffic: TrafficRow;
  user_id: number;
  product: string;
  hostname: string | null;
}

/** Of so much of the time a switch was read that says something: of less, no percentile is near. */
const leastKnown = 0.25;

const turnOf = statement<{ lastId: number }>(
  'services.turnOfTraffic',
  'select last_id as "lastId" from service_traffic_turn for update',
);
const setTurn = statement<never, { lastId: number }>(
  'services.setTurnOfTraffic',
  'update service_traffic_turn set last_id = :lastId',
);

// Of all traffic the sum says who is near, by the days of the month that are the service's. A twentieth of all intervals have the 95th percentile
// at least: whose sum is less than theirs is not near it.
const candidates = statement<
  Candidate,
  { month: string; from: number; isEarly: boolean; now: Date; limit: number }
>(
  'services.nearTheirTraffic',
  `select s.id, s.organization_id as "organizationId", s.traffic, s.user_id, p.name as product, s.domain as hostname
   from services s join server_traffic_months m on m.service_id = s.id and m.month = :month::date join products p on p.id = s.product_id
   cross join lateral (
     select greatest(:month::date, coalesce((select min(p.starts_on) from service_periods p where p.service_id = s.id),
         (s.created_at at time zone 'UTC')::date)) as began_on, (:month::date + interval '1 month')::date as next_on,
       (s.traffic ->> 'included')::numeric as included) of
   where s.traffic is not null and s.status in ('active', 'suspended') and s.id > :from
     and not exists (select 1 from service_traffic_notices n where n.service_id = s.id and n.month = m.month and n.percent = 100)
     and case when s.traffic ->> 'billing' = 'total'
       then m.received_bytes + m.sent_bytes >= of.included * 1e12 * 0.8 * (of.next_on - of.began_on) / (of.next_on - :month::date)
       else not :isEarly::boolean and m.received_bytes + m.sent_bytes >= of.included * 37500000 * 0.8 * ${leastKnown / 20}
         * extract(epoch from :now::timestamptz - (of.began_on::timestamp at time zone 'UTC')) / 300 end
     and of.included > 0
     and ${notSetAside(job, 's.id')}
   order by s.id limit :limit`,
);
const note = statement<
  { percent: number },
  { serviceId: number; organizationId: number; month: string; percents: number[]; now: Date }
>(
  'services.noteTrafficTold',
  `insert into service_traffic_notices (service_id, organization_id, month, percent, told_at)
   select :serviceId, :organizationId, :month::date, p.percent, :now from unnest(:percents::int[]) p(percent)
   on conflict do nothing returning percent`,
);

/**
 * Tells customers that four fifths, or all, of what a month includes of traffic is used, each once a month; who has used all at once is told
 * that alone. After a restore nobody is told until staff has released it: they may have been told already.
 */
export const tellOfTrafficPeriodicJob: PeriodicJob = {
  name: job,
  intervalMs: 3_600_000,
  work: async (ctx) => {
    const tx = { ...ctx, actor: systemActor };
    if ((await findHeldRestore(tx)) !== null) return 'done';
    const now = tx.clock.now();
    const today = dayOf(now);
    const isEarly = Number(today.slice(8)) <= firstDays;
    const { lastId: from } = await tx.db.one(turnOf);
    const found = await tx.db.many(candidates, {
      ...{ month: `${today.slice(0, 7)}-01`, from, isEarly, now, limit: batch },
    });
    await doEach(tx, job, found, (one, each) => tellOne(one, each, today.slice(0, 7)));
    const isMore = found.length === batch;
    await tx.db.run(setTurn, { lastId: isMore ? (found.at(-1)?.id ?? 0) : 0 });
    return isMore ? 'more' : 'done';
  },
};

async function tellOne(tx: TxContext, candidate: Candidate, month: string): Promise<void> {
  const { id: serviceId, user_id, product, hostname } = candidate;
  const metered = await findMetered(tx, serviceId);
  const terms = trafficFromRow(candidate.traffic);
  if (metered === null || terms === null) return;
  const included = includedOf(terms, shareOf(metered, month));
  if (included === 0) return; // all of it is billed, which needs no warning
  const all = await usedIn(tx, metered, month);
  if (all === null) return;
  const used = unitsOf(terms, countedBytes(terms, all));
  const reached = steps.filter((percent) => used > 0 && used * 100 >= included * percent);
  const { organizationId } = metered;
  const [most] = await tx.db.many(note, {
    ...{ serviceId, organizationId, month: `${month}-01`, percents: [...reached], now: tx.clock.now() },
  });
  if (most === undefined) return;
  const percent = Math.max(...reached);
  await record(tx, trafficUsed, {
    subject: { type: 'service', id: serviceId },
    organizationId,
    data: {
      ...{ user_id, product, hostname, month, percent, billing: terms.billing },
      ...{ used: rounded(used), included: rounded(included) },
    },
  });
}

function rounded(units: number): number {
  return Math.round(units * 1_000) / 1_000;
}
