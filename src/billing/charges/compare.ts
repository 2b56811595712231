import type { Payments } from '../../drivers/payments/index.ts';
import {
  type Context,
  enqueue,
  findLastRestore,
  type PeriodicJob,
  type Run,
  saga,
  statement,
  type TxContext,
  type TxRun,
  transaction,
} from '../../platform/index.ts';
import { lockInvoice } from '../invoices/payable.ts';
import { closingPages } from '../payments/settle.ts';
import { chargeById } from './charge.ts';
import { learnModes } from './customer.ts';
import { giveUpForgotten } from './decline.ts';
import { providerOutages } from './provider.ts';
import { lookAt, noteEvent } from './receive.ts';

const minute = 60_000;
const day = 86_400_000;
/** At night, when nobody waits. */
const hourOfNight = 3;
/** What is written down at the provider this long before we ask for it is there. */
const overlapMs = 3_600_000;
/** Of what is under way, younger charges have their own jobs. */
const underWayMs = 15 * minute;

// One that was begun later than now was begun by a clock that was ahead. After a restore nobody waits for the night.
const begin = statement<{ driver: string }, { driver: string; now: Date; night: Date; restore: number }>(
  'billing.beginComparison',
  `insert into provider_comparisons (driver, begun_at, begun_restore) values (:driver, :now, :restore)
   on conflict (driver) do update set begun_at = excluded.begun_at, begun_restore = excluded.begun_restore
     where provider_comparisons.begun_at < :night or provider_comparisons.begun_at > :now
       or provider_comparisons.begun_restore < :restore
   returning driver`,
);
const comparedUntil = statement<{ compared_until: Date | null }, { driver: string }>(
  'billing.comparedUntil',
  'select compared_until from provider_comparisons where driver = :driver',
);
const setCompared = statement<never, { driver: string; until: string }>(
  'billing.setCompared',
  'update provider_comparisons set compared_until = :until::timestamptz where driver = :driver',
);
// One that had begun when the backup was made has not heard of what came after it.
const setEnded = statement<never, { driver: string; restore: number; now: Date }>(
  'billing.endComparison',
  `update provider_comparisons set ended_restore = greatest(ended_restore, :restore), ended_at = :now
   where driver = :driver`,
);
const underWay = statement<
  { id: number; reference: string | null; page_reference: string | null },
  { driver: string; before: Date; after: number; limit: number }
>(
  'billing.chargesUnderWay',
  `select id, reference, page_reference from charges
   where driver = :driver and state in ('open', 'pending') and created_at < :before and id > :after
     and (reference is not null or page_reference is not null)
   order by id limit :limit`,
);
const payoutsUnderWay = statement<{ reference: string }, { driver: string; since: string; limit: number }>(
  'billing.payoutsUnderWay',
  // Those that arrived are looked at for a while: a bank may give them back, and its statement may come late.
  `select reference from payouts where driver = :driver
     and (state = 'pending' or (state = 'paid' and arrives_on >= :since::date))
   order by arrives_on desc, id desc limit :limit`,
);
const pagesLeftOpen = statement<
  { invoice_id: number; organization_id: number },
  { driver: string; limit: number }
>(
  'billing.pagesLeftOpen',
  `select distinct c.invoice_id, c.organization_id from charges c join invoices i on i.id = c.invoice_id
   where c.driver = :driver and c.state = 'open' and c.page_reference is not null and i.status <> 'unpaid' limit :limit`,
);
const unmade = statement<{ id: number; invoice_id: number }, { driver: string; before: Date }>(
  'billing.unmadeCharges',
  `select id, invoice_id from charges
   where driver = :driver and means = 'saved' and state = 'open' and reference is null and created_at < :before
   order by invoice_id, id`,
);

/**
 * Once a night, asks the provider what happened and how everything stands that is under way: what we did not hear of while
 * we were away is found here. After a restore it is done at once.
 */
export const comparing: PeriodicJob = {
  name: 'billing.compareProvider',
  intervalMs: minute,
  anyTime: true,
  isNeeded: async (ctx) => ctx.config.payments !== 'none',
  work: beginComparison,
};

async function beginComparison(tx: TxContext): Promise<void> {
  const driver = tx.config.payments;
  if (driver === 'none') return;
  const now = tx.clock.now();
  const restore = (await findLastRestore(tx))?.id ?? 0;
  const begun = await tx.db.maybe(begin, { driver, now, night: lastNight(now), restore });
  if (begun !== null) await enqueue(tx, compareProvider, { driver, restore }, { organizationId: null });
}

function lastNight(now: Date): Date {
  const night = new Date(now);
  night.setUTCHours(hourOfNight, 0, 0, 0);
  return night <= now ? night : new Date(night.getTime() - day);
}

interface Payload {
  driver: string;
  /** The last restore when it began; 0 or absent: none. */
  restore?: number;
}

interface State {
  until: string;
}

export const compareProvider = saga<Payload, State>({
  name: 'billing.compareWithProvider',
  outages: providerOutages,
  steps: [
    { name: 'events', do: hearMissed, attempts: 12 },
    { name: 'charges', do: lookAtAll },
    { name: 'payouts', transactional: true, do: lookAtPayouts },
    { name: 'note', transactional: true, do: note },
    // Last, since nothing that was missed and no release after a restore waits for it.
    { name: 'modes', do: ({ ctx, drivers }) => learnModes(ctx, drivers.payments) },
  ],
});

async function hearMissed({ ctx, drivers, payload }: Run<Payload, State>): Promise<Partial<State>> {
  const { compared_until: before } = await ctx.db.one(comparedUntil, { driver: payload.driver });
  const since = new Date((before?.getTime() ?? overlapMs) - overlapMs);
  const newest = await hearSince(ctx, drivers.payments, since);
  return newest === null ? {} : { until: newest.toISOString() };
}

/** Writes down all that happened since then and is not known. Gives the newest moment of it. */
async function hearSince(ctx: Context, payments: Payments, since: Date): Promise<Date | null> {
  let newest: Date | null = null;
  let after: string | null = null;
  do {
    const page = await payments.eventsSince(since, after);
    await transaction(ctx, 'billing.hearMissed', async (tx) => {
      for (const event of page.events) await noteEvent(tx, payments.kind, event);
    });
    for (const { madeAt } of page.events) if (newest === null || madeAt > newest) newest = madeAt;
    after = page.after;
  } while (after !== null);
  return newest;
}

const batch = 500;

async function lookAtAll({ ctx, payload: { driver } }: Run<Payload, State>): Promise<void> {
  const before = new Date(ctx.clock.now().getTime() - underWayMs);
  let after = 0;
  for (;;) {
    const charges = await ctx.db.many(underWay, { driver, before, after, limit: batch });
    await transaction(ctx, 'billing.lookAtCharges', async (tx) => {
      for (const { reference, page_reference: page } of charges) {
        if (reference !== null) await lookAt(tx, { kind: 'payment', reference });
        else if (page !== null) await lookAt(tx, { kind: 'page', reference: page });
      }
    });
    if (charges.length < batch) return;
    after = charges.at(-1)?.id ?? 0;
  }
}

const msToReturn = 30 * day;

async function lookAtPayouts({
  ctx: tx,
  payload: { driver },
}: TxRun<Payload, State>): Promise<Partial<State>> {
  const since = new Date(tx.clock.now().getTime() - msToReturn).toISOString().slice(0, 10);
  for (const { reference } of await tx.db.many(payoutsUnderWay, { driver, since, limit: batch }))
    await lookAt(tx, { kind: 'payout', reference });
  return {};
}

async function note({
  ctx: tx,
  payload: { driver, restore = 0 },
  state,
}: TxRun<Payload, State>): Promise<void> {
  await tx.db.run(setEnded, { driver, restore, now: tx.clock.now() });
  if (state.until !== undefined) await tx.db.run(setCompared, { driver, until: state.until });
  // The provider was away for longer than the job that closes them tries.
  for (const { invoice_id: invoiceId, organization_id: organizationId } of await tx.db.many(pagesLeftOpen, {
    driver,
    limit: batch,
  }))
    await enqueue(tx, closingPages, { invoiceId }, { organizationId });
  // A charge whose payment could not even be made for a day is tried anew.
  const before = new Date(tx.clock.now().getTime() - day);
  for (const { id, invoice_id } of await tx.db.many(unmade, { driver, before })) {
    await tx.db.one(lockInvoice, { id: invoice_id });
    const charge = await tx.db.one(chargeById, { id });
    if (charge.state === 'open' && charge.reference === null) await giveUpForgotten(tx, charge);
  }
}
