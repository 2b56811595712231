import {
  type Context,
  dayOf,
  forMany,
  type PeriodicJob,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { post } from './ledger.ts';
import { type DeferralRow, type DeferredLine, type Part, partOf, partUntil } from './months.ts';

const selectDeferral = `
  select id, organization_id, currency, amount_minor - earned_minor - returned_minor as left_minor, earned_until, ends_on,
    earns_on from deferrals`;

const insertDeferrals = forMany(
  statement<never, { organizationId: number; invoiceId: number; currency: string; lines: string }>(
    'billing.insertDeferrals',
    `insert into deferrals (organization_id, invoice_id, service_id, currency, amount_minor)
   select :organizationId, :invoiceId, d.service_id, :currency, d.amount_minor
   from jsonb_to_recordset(:lines::jsonb) as d(service_id bigint, amount_minor bigint)`,
  ),
  { organizationId: 'bigint', invoiceId: 'bigint', currency: 'text', lines: 'jsonb' },
  (given) => `with given as materialized (select * from ${given}),
   written as (
     insert into deferrals (organization_id, invoice_id, service_id, currency, amount_minor)
     select g."organizationId", g."invoiceId", d.service_id, g.currency, d.amount_minor
     from given g cross join lateral jsonb_to_recordset(g.lines) as d(service_id bigint, amount_minor bigint)
     returning invoice_id)
   select given.nth_ from given join written on written.invoice_id = given."invoiceId"`,
);
const begin = forMany(
  statement<never, { invoiceId: number; serviceId: number; from: string; to: string }>(
    'billing.beginEarning',
    `update deferrals set starts_on = :from::date, ends_on = :to::date, earned_until = :from::date,
     earns_on = case when earned_minor + returned_minor < amount_minor
       then least((date_trunc('month', :from::date) + interval '1 month')::date, :to::date) end
   where invoice_id = :invoiceId and service_id = :serviceId and starts_on is null`,
  ),
  { invoiceId: 'bigint', serviceId: 'bigint', from: 'date', to: 'date' },
  (
    given,
  ) => `update deferrals set starts_on = given."from", ends_on = given."to", earned_until = given."from",
     earns_on = case when earned_minor + returned_minor < amount_minor
       then least((date_trunc('month', given."from") + interval '1 month')::date, given."to") end
   from ${given}
   where invoice_id = given."invoiceId" and service_id = given."serviceId" and starts_on is null returning given.nth_`,
);
const lockDue = statement<DeferralRow, { today: string; limit: number }>(
  'billing.lockDueDeferrals',
  `${selectDeferral} where earns_on <= :today::date order by earns_on, id limit :limit for update skip locked`,
);
const lockLeft = statement<
  Omit<DeferralRow, 'earned_until' | 'ends_on' | 'earns_on'> & { month: string; from_day: number },
  { serviceId: number; today: string }
>(
  'billing.lockDeferralsOfService',
  `select id, organization_id, currency, amount_minor - earned_minor - returned_minor as left_minor,
     date_trunc('month', coalesce(earned_until, :today::date))::date as month,
     extract(day from coalesce(earned_until, :today::date))::int as from_day
   from deferrals where service_id = :serviceId and earned_minor + returned_minor < amount_minor
     and not exists (select 1 from invoices i where i.id = deferrals.invoice_id and i.status = 'unpaid')
   order by id for update`,
);
const writeEarned = statement<
  never,
  {
    ids: number[];
    amounts: number[];
    months: string[];
    organizationIds: number[];
    transactionIds: (number | null)[];
    fromDays: number[];
    untils: (string | null)[];
    nexts: (string | null)[];
  }
>(
  'billing.writeEarnings',
  `with earned as (
     select * from unnest(:ids::bigint[], :amounts::bigint[], :months::date[], :organizationIds::bigint[],
       :transactionIds::bigint[], :fromDays::smallint[], :untils::date[], :nexts::date[])
       as e(id, amount_minor, month, organization_id, transaction_id, from_day, earned_until, earns_on)),
   written as (
     insert into earnings (deferral_id, month, from_day, organization_id, transaction_id, amount_minor)
     select id, month, from_day, organization_id, transaction_id, amount_minor from earned where amount_minor > 0)
   update deferrals d set earned_minor = d.earned_minor + e.amount_minor,
     earned_until = coalesce(e.earned_until, d.earned_until), earns_on = e.earns_on
   from earned e where e.id = d.id`,
);
const lockOfInvoice = statement<
  { id: number; service_id: number; left_minor: number },
  { invoiceId: number }
>(
  'billing.lockDeferralsOfInvoice',
  `select id, service_id, amount_minor - earned_minor - returned_minor as left_minor from deferrals
   where invoice_id = :invoiceId and earned_minor + returned_minor < amount_minor order by id for update`,
);
const giveBackOf = statement<never, { id: number; amountMinor: number }>(
  'billing.returnDeferred',
  `update deferrals set returned_minor = returned_minor + :amountMinor,
     earns_on = case when earned_minor + returned_minor + :amountMinor < amount_minor then earns_on end
   where id = :id`,
);

const waitingUpgrades = forMany(
  statement<{ invoice_id: number }, { serviceId: number }>(
    'billing.waitingUpgrades',
    `select d.invoice_id from deferrals d join invoices i on i.id = d.invoice_id
   where d.service_id = :serviceId and d.earned_minor + d.returned_minor < d.amount_minor and d.starts_on is null
     and i.kind = 'upgrade' and i.status in ('paid', 'partially_refunded') order by d.invoice_id`,
  ),
  { serviceId: 'bigint' },
);

/** Upgrades of a service that were paid and do not count yet: whoever delivers them has not said {@link beginEarning}. */
export async function upgradesUnderWay(ctx: Context, serviceId: number): Promise<number[]> {
  return (await ctx.db.many(waitingUpgrades, { serviceId })).map(({ invoice_id: id }) => id);
}

export async function upgradeIsUnderWay(ctx: Context, serviceId: number): Promise<boolean> {
  return (await upgradesUnderWay(ctx, serviceId)).length > 0;
}

/** Writes down what an invoice that counts owes as service; the posting that puts it on the account `deferred` is the caller's. */
export async function defer(
  tx: TxContext,
  invoice: { id: number; organizationId: number; currency: string },
  lines: DeferredLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const { id: invoiceId, organizationId, currency } = invoice;
  await tx.db.run(insertDeferrals, {
    ...{ organizationId, invoiceId, currency },
    lines: JSON.stringify(
      lines.map(({ serviceId, amountMinor }) => ({ service_id: serviceId, amount_minor: amountMinor })),
    ),
  });
}

/**
 * From when to when a service's part of an invoice is for: the first day, and the day after the last (`YYYY-MM-DD`).
 * From here on it is earned month by month. Said again, it changes nothing.
 */
export async function beginEarning(
  tx: TxContext,
  period: { invoiceId: number; serviceId: number; from: string; to: string },
): Promise<void> {
  await tx.db.run(begin, period);
}

/**
 * What of an amount that is given back of an invoice was not earned yet; it is owed no more. What is given back for some
 * services is taken from theirs before that of others.
 */
export async function returnDeferred(
  tx: TxContext,
  invoiceId: number,
  amountMinor: number,
  services: readonly number[] = [],
): Promise<number> {
  let openMinor = amountMinor;
  const locked = await tx.db.many(lockOfInvoice, { invoiceId });
  const isFirst = (row: { service_id: number }) => services.includes(row.service_id);
  const inOrder = [...locked.filter(isFirst), ...locked.filter((row) => !isFirst(row))];
  for (const { id, left_minor } of inOrder) {
    const partMinor = Math.min(left_minor, openMinor);
    if (partMinor > 0) await tx.db.run(giveBackOf, { id, amountMinor: partMinor });
    openMinor -= partMinor;
  }
  return amountMinor - openMinor;
}

const lockReturned = statement<
  { id: number; service_id: number; returned_minor: number },
  { invoiceId: number }
>(
  'billing.lockReturnedDeferrals',
  `select id, service_id, returned_minor from deferrals d
   where d.invoice_id = :invoiceId and d.returned_minor > 0
     and not exists (select 1 from invoices i where i.id = d.invoice_id and d.service_id = any(i.undone_services))
     -- A service that has ended is owed nothing.
     and (d.ends_on is null or d.earned_until < d.ends_on) and exists (
       select 1 from services s where s.id = d.service_id and s.status in ('pending', 'active', 'suspended'))
   order by d.id for update`,
);
const putBack = statement<never, { id: number; amountMinor: number }>(
  'billing.putBackDeferred',
  `update deferrals set returned_minor = returned_minor - :amountMinor,
     earns_on = case when starts_on is not null
       then least((date_trunc('month', earned_until) + interval '1 month')::date, ends_on) end
   where id = :id`,
);

/** What of an amount that is an invoice's again is owed as service once more: for days of what goes on. */
export async function oweAgain(tx: TxContext, invoiceId: number, netMinor: number): Promise<number> {
  let leftMinor = netMinor;
  for (const { id, returned_minor } of await tx.db.many(lockReturned, { invoiceId })) {
    const amountMinor = Math.min(leftMinor, returned_minor);
    if (amountMinor > 0) await tx.db.run(putBack, { id, amountMinor });
    leftMinor -= amountMinor;
  }
  return netMinor - leftMinor;
}

/**
 * A service ended: what was paid for it and not given back is owed to nobody any more, so it is earned now. What is not paid
 * is no money that could be kept: whoever gives its invoice up takes it back.
 */
export async function earnRest(tx: TxContext, serviceId: number): Promise<void> {
  const today = dayOf(tx.clock.now());
  const left = await tx.db.many(lockLeft, { serviceId, today });
  await write(
    tx,
    left.map(({ from_day: fromDay, ...row }) => ({
      ...{ ...row, fromDay, countsOn: today, amountMinor: row.left_minor },
      ...{ until: null, next: null },
    })),
  );
}

const lockMoved = statement<DeferralRow & { starts_on: string }, { invoiceId: number; serviceId: number }>(
  'billing.lockMovedDeferral',
  `select id, organization_id, currency, amount_minor - earned_minor - returned_minor as left_minor, earned_until, ends_on,
     earns_on, starts_on from deferrals
   where invoice_id = :invoiceId and service_id = :serviceId and starts_on is not null
     and earned_minor + returned_minor < amount_minor for update`,
);
const setSpan = statement<never, { id: number; from: string; until: string; to: string }>(
  'billing.moveEarning',
  `update deferrals set starts_on = :from::date, earned_until = :until::date, ends_on = greatest(:to::date, :until::date),
     earns_on = case when earned_minor + returned_minor < amount_minor
       then least((date_trunc('month', :until::date) + interval '1 month')::date, greatest(:to::date, :until::date)) end
   where id = :id`,
);

/**
 * The time that a service's part of an invoice is for is another one from today on. What the days that have passed used up is
 * earned now; the rest is spread over the days from then to the new end. One that has not begun begins with the new first day.
 */
export async function moveEarning(
  tx: TxContext,
  { invoiceId, serviceId, from, to }: { invoiceId: number; serviceId: number; from: string; to: string },
): Promise<void> {
  const row = await tx.db.maybe(lockMoved, { invoiceId, serviceId });
  if (row === null) return;
  const today = dayOf(tx.clock.now());
  if (row.starts_on >= today) {
    await tx.db.run(setSpan, { id: row.id, from, until: from, to });
    return;
  }
  const until = today < row.ends_on ? today : row.ends_on;
  const isBehind = row.earned_until < until;
  if (isBehind) await write(tx, [partUntil(row, until)]);
  const reached = isBehind ? until : row.earned_until;
  await tx.db.run(setSpan, { id: row.id, from: row.starts_on, until: reached, to });
}

const leftOfService = statement<{ invoice_id: number }, { serviceId: number; into: number }>(
  'billing.deferralsLeft',
  `select invoice_id from deferrals where service_id = :serviceId and invoice_id <> :into and starts_on is not null
     and earned_minor + returned_minor < amount_minor order by id`,
);

/**
 * A service's periods begin anew, and what was left of the old ones has paid a part of the new one, which another invoice
 * asked for (`into`): it is earned over the days of that.
 */
export async function carryEarning(
  tx: TxContext,
  { serviceId, into, from, to }: { serviceId: number; into: number; from: string; to: string },
): Promise<void> {
  for (const { invoice_id: invoiceId } of await tx.db.many(leftOfService, { serviceId, into }))
    await moveEarning(tx, { invoiceId, serviceId, from, to });
}

const atOnce = 500;

const nextEarned = statement<{ at: Date | null }>(
  'billing.nextEarned',
  `select min(earns_on)::timestamp at time zone 'UTC' as at from deferrals where earns_on is not null`,
);

/** Earns what is due: every month that is over, and the days up to the end of a period. Once each, however often it runs. */
export const earning: PeriodicJob = {
  name: 'billing.earn',
  intervalMs: 60_000,
  due: nextEarned,
  work: earnDue,
};

async function earnDue(tx: TxContext): Promise<'more' | 'done'> {
  const today = dayOf(tx.clock.now());
  const due = await tx.db.many(lockDue, { today, limit: atOnce });
  await write(tx, due.map(partOf));
  // A service whose period ended months ago has several to earn, one after the other.
  return due.length > 0 ? 'more' : 'done';
}

async function write(tx: TxContext, parts: Part[]): Promise<void> {
  if (parts.length === 0) return;
  const groups = Map.groupBy(parts, ({ currency, countsOn }) => `${currency} ${countsOn}`);
  const posted = new Map<Part, number>();
  for (const group of groups.values()) {
    const [{ currency, countsOn }] = group as [Part, ...Part[]];
    const sumMinor = group.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
    // A cent over a year: nothing of it falls to most months.
    if (sumMinor === 0) continue;
    const id = await post(tx, {
      kind: 'revenue_earned',
      organizationId: null,
      currency,
      description: `Earned of services until ${countsOn}`,
      countsOn,
      creditMinor: 0,
      provider: { deferred: sumMinor, revenue: -sumMinor },
    });
    for (const part of group) posted.set(part, id);
  }
  await tx.db.run(writeEarned, {
    ids: parts.map(({ id }) => id),
    amounts: parts.map(({ amountMinor }) => amountMinor),
    months: parts.map(({ month }) => month),
    organizationIds: parts.map(({ organization_id }) => organization_id),
    transactionIds: parts.map((part) => posted.get(part) ?? null),
    fromDays: parts.map(({ fromDay }) => fromDay),
    untils: parts.map(({ until }) => until),
    nexts: parts.map(({ next }) => next),
  });
}
