import { mayBePaid, statusOf } from '../../billing/index.ts';
import {
  AppError,
  addDays,
  aheadMs,
  attempt,
  causesOf,
  dayOf,
  findHeldRestore,
  inStep,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { countingOn, isUntold } from '../priceMoves/coming.ts';
import { comingOf } from '../priceMoves/queries.ts';
import { findWaitingRenewal } from '../renew/queries.ts';
import { type CalendarSettings, calendar } from '../settings.ts';
import { doStep, replacesInvoice } from './act.ts';
import { afterStep } from './foresee.ts';
import { nextOf } from './plan.ts';
import {
  type CalendarRow,
  leaveCalendar,
  lookAgain,
  readRows,
  situationOf,
  startOver,
  writeTrouble,
} from './row.ts';

/** So many services in one transaction: customers who change theirs wait for it, a fraction of a second. */
const attendedAtOnce = 250;
const takenUpAtOnce = 1_000;

// A row of an earlier period is replaced: what it was for has been paid. One of the same has its steps once more.
const takeUp = statement<never, { today: string; until: string; limit: number }>(
  'services.takeUp',
  `with due as (
     select id, organization_id, duedate from services
     where status in ('active', 'suspended') and duedate is not null and calendar_on is distinct from duedate
       and duedate <= :until::date
     order by duedate, id limit :limit for no key update skip locked),
   marked as (update services s set calendar_on = due.duedate from due where s.id = due.id)
   insert into service_calendar (service_id, organization_id, due_on, look_on, round)
   select id, organization_id, duedate, :today::date,
     1 + coalesce((select max(d.round) from service_calendar_steps d where d.service_id = due.id and d.due_on = due.duedate), 0)
   from due
   on conflict (service_id) do update set due_on = excluded.due_on, round = excluded.round, invoice_id = null, step = null,
     warned_step = null, warning_id = null, warned_on = null, look_on = excluded.look_on, problem = null,
     problem_since = null`,
);
// What was put off by a clock that was ahead is looked at now.
const toAttend = statement<
  { id: number; organizationId: number },
  { today: string; ahead: Date; limit: number }
>(
  'services.toAttend',
  `select service_id as id, organization_id as "organizationId" from service_calendar
   where look_on <= :today::date or looked_at > :ahead
   order by look_on, service_id limit :limit`,
);
/** When {@link attendCalendar} has a service to attend; those that it takes up are found by the day, however often it is looked. */
export const nextToAttend = statement<{ at: Date | null }, { now: Date }>(
  'services.nextToAttend',
  `select case when exists (select 1 from service_calendar where look_on <= (:now::timestamptz at time zone 'UTC')::date)
     or exists (select 1 from service_calendar where looked_at > :now::timestamptz + interval '${aheadMs / 1_000} seconds')
     then :now::timestamptz end as at`,
);
// In the order of every invoice: organizations first, then what it is for.
const lockOrganizations = statement<never, { ids: number[] }>(
  'services.lockOrganizations',
  'select id from organizations where id = any(:ids::bigint[]) order by id for no key update',
);
const lockServices = statement<never, { ids: number[] }>(
  'services.lockAttended',
  'select id from services where id = any(:ids::bigint[]) order by id for update',
);

// Nothing is taken away for want of money that comes at this moment: it waits, and finds what was decided.
const lockInvoices = statement<never, { ids: number[] }>(
  'services.lockCalendarInvoices',
  `select id from invoices where id in (select invoice_id from service_calendar where service_id = any(:ids::bigint[]))
   order by id for no key update`,
);

/**
 * Does what is due today for services whose paid time is near its end or over, a batch of them. However often it runs,
 * each step is done once, and after a standstill one after another, with the days between them that they always have.
 */
export async function attendCalendar(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const settings = await readSettings(tx, calendar);
  const now: Now = { today: dayOf(tx.clock.now()), isHeld: (await findHeldRestore(tx)) !== null };
  const { today } = now;
  const taken = await tx.db.run(takeUp, {
    today,
    until: addDays(today, daysAhead(settings)),
    limit: takenUpAtOnce,
  });
  // In a transaction of their own: those that follow lock organizations first.
  if (taken > 0) return 'more';
  const ahead = new Date(tx.clock.now().getTime() + aheadMs);
  const found = await tx.db.many(toAttend, { today, ahead, limit: attendedAtOnce });
  if (found.length === 0) return 'done';
  const ids = found.map(({ id }) => id);
  await tx.db.many(lockOrganizations, {
    ids: [...new Set(found.map(({ organizationId }) => organizationId))],
  });
  await tx.db.many(lockServices, { ids });
  await tx.db.many(lockInvoices, { ids });
  for (const rows of partsOf(await readRows(tx, ids), settings, today))
    await attendAll(tx, rows, settings, now);
  return 'more';
}

/**
 * Rows that go the same way, to be attended in step, in the order of the steps; those that are invoiced come last, since whoever
 * takes a number keeps others waiting. Whatever changes what several services of an organization share goes by itself, and so does
 * what could not go on the last time: it would hold the others up again.
 */
function partsOf(rows: readonly CalendarRow[], settings: CalendarSettings, today: string): CalendarRow[][] {
  const parts = Map.groupBy(rows, (row) => {
    const next = nextOf(situationOf(row), settings);
    if (row.problem !== null) return alone;
    if (!('do' in next) || next.on > today) return 'rests';
    return goesInStep.has(next.do) && row.invoiceStatus !== 'cancelled' ? next.do : alone;
  });
  const inOrder = [...parts].toSorted(([one], [other]) => placeOf(one) - placeOf(other));
  return inOrder.flatMap(([way, all]) => (way === alone ? all.map((row) => [row]) : [all]));
}

const alone = 'alone';

/** When the calendar is attended. */
interface Now {
  today: string;
  /** Whether the database was restored and staff has not released it. */
  isHeld: boolean;
}

/**
 * What takes something from a customer. After a restore it waits: they may have paid, or thought better of an end, since the
 * backup that the database came from.
 */
const heldAfterRestore: ReadonlySet<string> = new Set(['charge', 'late_fee', 'suspend', 'terminate', 'end']);

/** Steps that write of their own service alone. */
const goesInStep: ReadonlySet<string> = new Set([
  'reminder',
  'overdue',
  'last_reminder',
  'ending_notice',
  'charge',
  'suspend',
  'invoice',
]);

const placeOf = (way: string) => (way === 'invoice' ? 1 : 0);

/** All of them in step; when that fails, each half by itself, down to the one that cannot go on: it holds nobody up. */
async function attendAll(
  tx: TxContext,
  rows: readonly CalendarRow[],
  settings: CalendarSettings,
  now: Now,
): Promise<void> {
  const [first, ...others] = rows;
  if (first === undefined) return;
  if (others.length === 0) {
    await attempt(tx, (one) => attend(one, first, settings, now)).catch((error: Error) => {
      if (isNobodysFault(error)) throw error;
      return putOff(tx, first, now.today, error);
    });
    return;
  }
  const isDone = await attempt(tx, (all) =>
    inStep(all, rows, (one, row) => attend(one, row, settings, now)),
  ).then(
    () => true,
    (error: Error) => {
      if (isNobodysFault(error)) throw error;
      tx.log.debug(
        { services: rows.length, err: causesOf(error) },
        'the calendar goes on with fewer services at once',
      );
      return false;
    },
  );
  if (isDone) return;
  const half = Math.ceil(rows.length / 2);
  await attendAll(tx, rows.slice(0, half), settings, now);
  await attendAll(tx, rows.slice(half), settings, now);
}

/**
 * Somebody else is at what they need, or the database is away or full. None of the services can help it, and to look for one
 * of them would wait for the same lock again and again with every organization of the batch locked: all of it comes again.
 */
function isNobodysFault(error: Error): boolean {
  return error instanceof AppError && ['busy', 'unavailable', 'storage_full'].includes(error.code);
}

/** How early the calendar takes a service up. */
export function daysAhead(settings: CalendarSettings): number {
  return Math.max(settings.invoice_days_before, settings.ending_notice_days_before);
}

async function attend(
  tx: TxContext,
  row: CalendarRow,
  settings: CalendarSettings,
  { today, isHeld }: Now,
): Promise<void> {
  const situation = situationOf(row);
  const next = nextOf(situation, settings);
  if ('over' in next) return leaveCalendar(tx, row.serviceId);
  const warnedOn = situation.warning?.sentOn ?? null;
  if ('waits' in next) return lookAgain(tx, row.serviceId, addDays(today, 1), warnedOn);
  // A cancellation may be taken back on any day, and a mail be sent; both are a matter of few.
  const mayChange = row.cancelled || situation.warning?.sentOn === null;
  if (next.on > today) return lookAgain(tx, row.serviceId, mayChange ? addDays(today, 1) : next.on, warnedOn);
  if (isHeld && heldAfterRestore.has(next.do))
    return lookAgain(tx, row.serviceId, addDays(today, 1), warnedOn);
  if (next.do === 'start_over') return startOver(tx, row.serviceId, next.from, today);
  const issues = next.do === 'invoice' || replacesInvoice(row, next.do);
  if (isHeld && issues && (await hasNewPrice(tx, row, today)))
    return lookAgain(tx, row.serviceId, addDays(today, 1), warnedOn);
  if (next.do === 'invoice' && (await isJustPaid(tx, row.serviceId)))
    return lookAgain(tx, row.serviceId, addDays(today, 1), warnedOn);
  if (next.do === 'terminate' && (await mayBePaidOnPage(tx, row)))
    return lookAgain(tx, row.serviceId, addDays(today, 1), warnedOn);
  const { warningId } = await doStep(tx, row, next.do, settings);
  if (next.do === 'terminate' || next.do === 'end') return leaveCalendar(tx, row.serviceId);
  // At the earliest when its mail is sent today; whether it was is seen then. What is due today as well comes next.
  const after = nextOf(afterStep(situation, next.do, today), settings);
  const lookOn = 'do' in after ? after.on : addDays(today, 1);
  await lookAgain(tx, row.serviceId, lookOn, warningId === null ? warnedOn : null);
}

/**
 * Whether a new price counts for the period that is to be invoiced, or might by the time its customer is told. It may have been
 * revoked since the backup, so after a restore such an invoice waits, and what follows keeps its days from it.
 */
async function hasNewPrice(
  tx: TxContext,
  { serviceId, duedate }: CalendarRow,
  today: string,
): Promise<boolean> {
  if (duedate === null) return false;
  const coming = await comingOf(tx, serviceId);
  return countingOn(coming, duedate) !== null || isUntold(coming, duedate, today);
}

/** A page that was only opened spares nobody a reminder; before a machine is gone for good it is looked at. */
async function mayBePaidOnPage(tx: TxContext, { invoiceId, organizationId }: CalendarRow): Promise<boolean> {
  if (invoiceId === null) return false;
  return mayBePaid(tx, { id: invoiceId, organization_id: organizationId });
}

/** Whether its renewal was paid and is about to count: then the invoice after it is not for today. */
async function isJustPaid(tx: TxContext, serviceId: number): Promise<boolean> {
  const waiting = await findWaitingRenewal(tx, { serviceId });
  return waiting !== null && (await statusOf(tx, waiting.invoiceId)) === 'paid';
}

/** One service that cannot go on keeps none of the others waiting. It is tried again tomorrow, and staff sees it. */
async function putOff(tx: TxContext, { serviceId }: CalendarRow, today: string, error: Error): Promise<void> {
  tx.log.warn({ service: serviceId, err: causesOf(error) }, 'the calendar cannot go on with a service');
  await writeTrouble(tx, serviceId, addDays(today, 1), error.message.slice(0, 500));
}
