import type { Lots } from '../../catalog/index.ts';
import { type Context, forMany, statement, type TxContext } from '../../platform/index.ts';

/** What an invoice asks for the next period of a service, and what that period will be. */
export interface Renewal {
  invoiceId: number;
  organizationId: number;
  serviceId: number;
  cycle: string;
  priceMinor: number;
  startsOn: string;
  endsOn: string;
  /** The move that its price is of; null: the service's own. */
  priceMoveId: number | null;
}

const selectWaiting = `
  select invoice_id as "invoiceId", organization_id as "organizationId", service_id as "serviceId", cycle,
    price_minor as "priceMinor", starts_on as "startsOn", ends_on as "endsOn", price_move_id as "priceMoveId"
  from service_renewals where state = 'waiting'`;
const waitingOfService = forMany(
  statement<Renewal, { serviceId: number }>(
    'services.waitingRenewal',
    `${selectWaiting} and service_id = :serviceId`,
  ),
  { serviceId: 'bigint' },
);
const waitingOfInvoice = forMany(
  statement<Renewal, { invoiceId: number }>(
    'services.renewalOfInvoice',
    `${selectWaiting} and invoice_id = :invoiceId`,
  ),
  { invoiceId: 'bigint' },
);
const insertRenewal = forMany(
  statement<never, Renewal & { now: Date }>(
    'services.insertRenewal',
    `insert into service_renewals (invoice_id, organization_id, service_id, cycle, price_minor, starts_on, ends_on,
     price_move_id, state, created_at)
   values (:invoiceId, :organizationId, :serviceId, :cycle, :priceMinor, :startsOn, :endsOn,
     :priceMoveId, 'waiting', :now)`,
  ),
  {
    invoiceId: 'bigint',
    organizationId: 'bigint',
    serviceId: 'bigint',
    cycle: 'text',
    priceMinor: 'bigint',
    startsOn: 'date',
    endsOn: 'date',
    priceMoveId: 'bigint',
    now: 'timestamptz',
  },
  (
    given,
  ) => `insert into service_renewals (invoice_id, organization_id, service_id, cycle, price_minor, starts_on, ends_on,
     price_move_id, state, created_at)
   select "invoiceId", "organizationId", "serviceId", cycle, "priceMinor", "startsOn", "endsOn", "priceMoveId", 'waiting', now
   from ${given}`,
);
const endRenewal = statement<never, { invoiceId: number }>(
  'services.endRenewal',
  `update service_renewals set state = 'ended' where invoice_id = :invoiceId and state = 'waiting'`,
);
const markApplied = forMany(
  statement<never, { invoiceId: number; startsOn: string; endsOn: string }>(
    'services.markRenewed',
    // What it changes stands here, for when its money goes back; a price that was moved stays moved.
    `update service_renewals r set state = 'applied', starts_on = :startsOn, ends_on = :endsOn,
     (cycle_before, price_before_minor) = (select s.cycle, s.price_minor from services s
       where s.id = r.service_id and s.cycle <> r.cycle and r.price_move_id is null)
   where invoice_id = :invoiceId and state = 'waiting'`,
  ),
  { invoiceId: 'bigint', startsOn: 'date', endsOn: 'date' },
  (
    given,
  ) => `update service_renewals r set state = 'applied', starts_on = given."startsOn", ends_on = given."endsOn",
     (cycle_before, price_before_minor) = (select s.cycle, s.price_minor from services s
       where s.id = r.service_id and s.cycle <> r.cycle and r.price_move_id is null)
   from ${given} where r.invoice_id = given."invoiceId" and r.state = 'waiting' returning given.nth_`,
);
const extend = forMany(
  statement<
    never,
    { id: number; duedate: string; periodStart: string; cycle: string; priceMinor: number; unitPrices: Lots }
  >(
    'services.extend',
    `update services set duedate = :duedate, period_start = :periodStart, cycle = :cycle, price_minor = :priceMinor,
     unit_prices = :unitPrices where id = :id`,
  ),
  {
    id: 'bigint',
    duedate: 'date',
    periodStart: 'date',
    cycle: 'text',
    priceMinor: 'bigint',
    unitPrices: 'jsonb',
  },
  (
    given,
  ) => `update services set duedate = given.duedate, period_start = given."periodStart", cycle = given.cycle,
     price_minor = given."priceMinor", unit_prices = given."unitPrices" from ${given} where services.id = given.id`,
);

/** The renewal that waits for its payment, or was just paid and is about to count. */
export function findWaitingRenewal(ctx: Context, by: { serviceId: number } | { invoiceId: number }) {
  return 'serviceId' in by
    ? ctx.db.maybe(waitingOfService, { serviceId: by.serviceId })
    : ctx.db.maybe(waitingOfInvoice, { invoiceId: by.invoiceId });
}

const endedOf = forMany(
  statement<{ invoiceId: number }, { serviceId: number; startsOn: string }>(
    'services.endedRenewal',
    `select invoice_id as "invoiceId" from service_renewals
   where service_id = :serviceId and starts_on = :startsOn and state = 'ended' order by created_at desc limit 1`,
  ),
  { serviceId: 'bigint', startsOn: 'date' },
);

/** The newest renewal for a period that nothing came of, or that counts no more. */
export function findEnded(ctx: Context, period: { serviceId: number; startsOn: string }) {
  return ctx.db.maybe(endedOf, period);
}

export async function writeRenewal(tx: TxContext, renewal: Renewal): Promise<void> {
  await tx.db.run(insertRenewal, { ...renewal, now: tx.clock.now() });
}

/** Nothing comes of a renewal any more. */
export async function dropRenewal(tx: TxContext, invoiceId: number): Promise<void> {
  await tx.db.run(endRenewal, { invoiceId });
}

const takeUpAgain = statement<never, { id: number }>(
  'services.takeUpAgain',
  'update services set calendar_on = null where id = :id',
);

/** The money of a renewal was given back before it counted: the period is to be paid, and the calendar begins anew. */
export async function dropRefunded(tx: TxContext, { invoiceId, serviceId }: Renewal): Promise<void> {
  await dropRenewal(tx, invoiceId);
  await tx.db.run(takeUpAgain, { id: serviceId });
}

/** A service is paid for one period more; its row is locked. */
export async function extendService(
  tx: TxContext,
  renewal: Renewal,
  terms: { cycle: string; priceMinor: number; unitPrices: Lots },
): Promise<void> {
  const { invoiceId, serviceId: id, startsOn, endsOn } = renewal;
  await tx.db.run(markApplied, { invoiceId, startsOn, endsOn });
  await tx.db.run(extend, { id, duedate: endsOn, periodStart: startsOn, ...terms });
}

/** A renewal that counted, with what it changed of its service's cycle and price; both null where it changed neither. */
export interface AppliedRenewal {
  invoiceId: number;
  organizationId: number;
  serviceId: number;
  cycle: string;
  priceMinor: number;
  startsOn: string;
  endsOn: string;
  cycleBefore: string | null;
  priceBeforeMinor: number | null;
}

const selectApplied = `
  select invoice_id as "invoiceId", organization_id as "organizationId", service_id as "serviceId", cycle,
    price_minor as "priceMinor", starts_on as "startsOn", ends_on as "endsOn", cycle_before as "cycleBefore",
    price_before_minor as "priceBeforeMinor"
  from service_renewals where state = 'applied'`;
const appliedOfInvoice = statement<AppliedRenewal, { invoiceId: number }>(
  'services.appliedRenewal',
  `${selectApplied} and invoice_id = :invoiceId`,
);
const appliedFrom = statement<AppliedRenewal, { serviceId: number; day: string }>(
  'services.renewalsFrom',
  `${selectApplied} and service_id = :serviceId and starts_on >= :day::date order by starts_on`,
);
const endApplied = statement<never, { invoiceId: number }>(
  'services.endAppliedRenewal',
  `update service_renewals set state = 'ended' where invoice_id = :invoiceId and state = 'applied'`,
);
const setApplied = statement<never, { invoiceId: number; startsOn: string; endsOn: string }>(
  'services.moveRenewal',
  `update service_renewals set state = 'applied', starts_on = :startsOn, ends_on = :endsOn
   where invoice_id = :invoiceId`,
);
const endAllApplied = statement<never, { serviceId: number }>(
  'services.endAppliedRenewals',
  `update service_renewals set state = 'ended' where service_id = :serviceId and state = 'applied'`,
);
// The first day of the period before is known where an invoice says it; of several, an upgrade began later.
const shorten = statement<never, { id: number; duedate: string; cycle: string; priceMinor: number }>(
  'services.shorten',
  `update services set duedate = :duedate::date, cycle = :cycle, price_minor = :priceMinor, calendar_on = null,
     period_start = (select min(p.starts_on) from service_periods p
       where p.service_id = services.id and p.ends_on = :duedate::date)
   where id = :id`,
);

export function findApplied(ctx: Context, invoiceId: number): Promise<AppliedRenewal | null> {
  return ctx.db.maybe(appliedOfInvoice, { invoiceId });
}

/** Renewals of periods that begin on that day or later, the first one first. */
export function renewalsFrom(ctx: Context, serviceId: number, day: string) {
  return ctx.db.many(appliedFrom, { serviceId, day });
}

const appliedSince = statement<AppliedRenewal, { serviceId: number; since: Date }>(
  'services.renewalsSince',
  `${selectApplied} and service_id = :serviceId and created_at > :since order by starts_on`,
);

/** Renewals that were asked for after that moment, by their periods. */
export function renewalsSince(ctx: Context, serviceId: number, since: Date) {
  return ctx.db.many(appliedSince, { serviceId, since });
}

const restore = statement<never, { serviceId: number; before: Date }>(
  'services.restoreRenewals',
  `update service_renewals r set state = 'applied'
   where r.service_id = :serviceId and r.state = 'ended' and r.created_at < :before
     and exists (select 1 from service_periods p where p.service_id = r.service_id and p.invoice_id = r.invoice_id)
     and not exists (select 1 from service_changes c where c.service_id = r.service_id and c.state = 'applied'
       and c.starts_on is not null and c.created_at > r.created_at)`,
);

/** Periods that were renewed before a change counts no more are paid time again: see {@link endAppliedRenewals}. */
export async function restoreRenewals(tx: TxContext, serviceId: number, before: Date): Promise<void> {
  await tx.db.run(restore, { serviceId, before });
}

/**
 * Periods begin anew with a change of product: those that were renewed before it paid for a part of that, and are no part of
 * the paid time any more. What they paid stays where it was paid.
 */
export async function endAppliedRenewals(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(endAllApplied, { serviceId });
}

/** A renewal that counted does so no more. */
export async function dropApplied(tx: TxContext, invoiceId: number): Promise<void> {
  await tx.db.run(endApplied, { invoiceId });
}

/** A renewal that counted counts for another time; see {@link dropApplied}. */
export async function moveApplied(
  tx: TxContext,
  period: Pick<Renewal, 'invoiceId' | 'startsOn' | 'endsOn'>,
): Promise<void> {
  await tx.db.run(setApplied, period);
}

/** A service is paid for less than it was; its row is locked. The calendar takes it up anew when that day is near. */
export async function shortenService(
  tx: TxContext,
  terms: { id: number; duedate: string; cycle: string; priceMinor: number },
): Promise<void> {
  await tx.db.run(shorten, terms);
}
