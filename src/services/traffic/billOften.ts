import { lockForTax } from '../../billing/index.ts';
import {
  addDays,
  dayOf,
  doEach,
  findHeldRestore,
  notSetAside,
  type PeriodicJob,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { calendar } from '../settings.ts';
import { invoiceTraffic, lockToBill } from './bill.ts';

const job = 'services.billTraffic';
const batch = 50;
/** Of a service whose next renewal is asked for within so many days, that asks for its traffic as well. */
const nearDays = 31;

const due = statement<
  { id: number; organizationId: number },
  { nearUntil: string; now: Date; limit: number }
>(
  'services.trafficToBill',
  `select distinct s.organization_id as "organizationId", s.id
   from service_traffic t join services s on s.id = t.service_id and s.currency = t.currency
   where t.invoice_id is null and t.amount_minor > 0 and s.status in ('active', 'suspended')
     and (s.duedate is null or s.duedate > :nearUntil::date) and ${notSetAside(job, 's.id')}
   order by s.organization_id, s.id limit :limit`,
);

/**
 * Asks for traffic by invoices of its own, of services whose next renewal is further away than a month: nobody gets a year of it on one invoice. After
 * a restore nothing is asked for until staff has released it: it may have been asked for already.
 */
export const billTrafficPeriodicJob: PeriodicJob = {
  name: job,
  intervalMs: 3_600_000,
  work: async (ctx) => {
    const tx = { ...ctx, actor: systemActor };
    if ((await findHeldRestore(tx)) !== null) return 'done';
    const now = tx.clock.now();
    const { invoice_days_before: days } = await readSettings(tx, calendar);
    const nearUntil = addDays(dayOf(now), nearDays + days);
    const found = await tx.db.many(due, { nearUntil, now, limit: batch });
    // In the order of every invoice: all organizations first, then what each is for.
    for (const organizationId of new Set(found.map((each) => each.organizationId)))
      await lockForTax(tx, organizationId);
    const done = await doEach(tx, job, found, (one, { id }) => billOne(one, id, nearUntil));
    return found.length === batch && done.length > 0 ? 'more' : 'done';
  },
};

/** A moment ago it may have ended, or have been renewed. */
async function billOne(tx: TxContext, id: number, nearUntil: string): Promise<void> {
  const service = await lockToBill(tx, id);
  const isRunning = service.status === 'active' || service.status === 'suspended';
  const isFar = service.duedate === null || service.duedate > nearUntil;
  if (isRunning && isFar) await invoiceTraffic(tx, service);
}
