import { isOnItsWay, renewalOf } from '../../billing/index.ts';
import { type Context, dayOf, forMany, statement, type TxContext } from '../../platform/index.ts';
import type { ServiceStatus } from '../states.ts';
import type { SuspendedBy } from '../suspend/lock.ts';
import type { Situation } from './plan.ts';
import { latest, type Step } from './schedule.ts';

/** A service as the calendar finds it, with what its customer is told of it. */
export interface CalendarRow {
  serviceId: number;
  organizationId: number;
  userId: number;
  product: string;
  hostname: string | null;
  status: ServiceStatus;
  suspendedBy: SuspendedBy | null;
  cancelled: boolean;
  autoRenew: boolean;
  duedate: string;
  priceMinor: number;
  /** Null until the calendar has taken it up. */
  dueOn: string | null;
  round: number;
  step: Step | null;
  warnedStep: Step | null;
  warningId: number | null;
  warnedOn: string | null;
  sentAt: Date | null;
  invoiceId: number | null;
  invoiceStatus: string | null;
  issuedAt: Date | null;
  expiresAt: Date | null;
  currency: string;
  totalMinor: number | null;
  paidMinor: number | null;
  promisedUntil: string | null;
  isBeingPaid: boolean;
  problem: string | null;
}

// A mail that stays in the product, because none is sent from here, counts as sent when it was written.
export const rowsWhere = (calendar: string, where: string) => `
  select s.id as "serviceId", s.organization_id as "organizationId", s.user_id as "userId", p.name as product,
    s.domain as hostname, s.status, s.suspended_by as "suspendedBy", s.cancelled, s.auto_renew as "autoRenew", s.duedate,
    s.price_minor as "priceMinor",
    c.due_on as "dueOn", coalesce(c.round, 1) as round, c.step, c.warned_step as "warnedStep",
    c.warning_id as "warningId", c.warned_on as "warnedOn",
    (select min(coalesce(m.sent_at, case when m.state = 'kept' then m.created_at end)) from mails m
     where c.warned_on is null and m.journal_id = c.warning_id) as "sentAt",
    c.invoice_id as "invoiceId", i.status as "invoiceStatus", i.created_at as "issuedAt", i.expires_at as "expiresAt",
    ${isOnItsWay('c.invoice_id', renewalOf('s.id', 'c.due_on'))} as "isBeingPaid",
    s.currency, i.total_minor as "totalMinor", i.paid_minor as "paidMinor", c.problem,
    (select max(w.until) from payment_promises w where w.organization_id = s.organization_id
       and (w.service_id is null or w.service_id = s.id)) as "promisedUntil"
  from services s join products p on p.id = s.product_id
  left join service_calendar c on ${calendar}
  left join invoices i on i.id = c.invoice_id
  where ${where}`;

/** What every statement of {@link rowsWhere} takes. */
export const askedBy = (ctx: Context) => ({ driver: ctx.config.payments, now: ctx.clock.now() });

export type AskedBy = ReturnType<typeof askedBy>;

const rowsById = statement<CalendarRow, AskedBy & { ids: number[] }>(
  'services.calendarRows',
  rowsWhere('c.service_id = s.id', 's.id = any(:ids::bigint[]) order by s.id'),
);

export function readRows(ctx: Context, ids: number[]): Promise<CalendarRow[]> {
  return ctx.db.many(rowsById, { ids, ...askedBy(ctx) });
}

/** What the rule of the calendar has to know of a service. */
export function situationOf(row: CalendarRow): Situation {
  const { status, suspendedBy, cancelled, autoRenew, duedate, step, promisedUntil } = row;
  const dueOn = row.dueOn ?? duedate;
  const sentOn = row.warnedOn ?? (row.sentAt && dayOf(row.sentAt));
  const { invoiceStatus, issuedAt, expiresAt, warnedStep } = row;
  const invoice =
    invoiceStatus === null || issuedAt === null || expiresAt === null
      ? null
      : { status: invoiceStatus, issuedOn: dayOf(issuedAt), dueOn: latest(dueOn, dayOf(expiresAt)) };
  const warning = warnedStep === null ? null : { step: warnedStep, sentOn };
  const service = { status, suspendedBy, cancelled, autoRenew, duedate };
  return { ...service, dueOn, invoice, step, warning, promisedUntil, isBeingPaid: row.isBeingPaid };
}

const writeStep = forMany(
  statement<
    never,
    {
      serviceId: number;
      organizationId: number;
      dueOn: string;
      round: number;
      step: Step;
      invoiceId: number | null;
      warnedStep: Step | null;
      warningId: number | null;
      warnedOn: string | null;
      now: Date;
    }
  >(
    'services.writeCalendarStep',
    `with done as (
     insert into service_calendar_steps (service_id, organization_id, due_on, round, step, invoice_id, done_at)
     values (:serviceId, :organizationId, :dueOn, :round, :step, :invoiceId, :now))
   update service_calendar set step = :step, invoice_id = :invoiceId, warned_step = :warnedStep, warning_id = :warningId,
     warned_on = :warnedOn, problem = null, problem_since = null
   where service_id = :serviceId`,
  ),
  {
    serviceId: 'bigint',
    organizationId: 'bigint',
    dueOn: 'date',
    round: 'int',
    step: 'text',
    invoiceId: 'bigint',
    warnedStep: 'text',
    warningId: 'bigint',
    warnedOn: 'date',
    now: 'timestamptz',
  },
  (given) => `with given as materialized (select * from ${given}),
   done as (
     insert into service_calendar_steps (service_id, organization_id, due_on, round, step, invoice_id, done_at)
     select "serviceId", "organizationId", "dueOn", round, step, "invoiceId", now from given)
   update service_calendar c set step = g.step, invoice_id = g."invoiceId", warned_step = g."warnedStep",
     warning_id = g."warningId", warned_on = g."warnedOn", problem = null, problem_since = null
   from given g where c.service_id = g."serviceId"`,
);
const writeRestart = statement<never, { serviceId: number; step: Step | null; today: string }>(
  'services.restartCalendar',
  `update service_calendar set round = round + 1, step = :step, warned_step = :step, warning_id = null,
     warned_on = case when :step::text is not null then :today::date end, problem = null, problem_since = null
   where service_id = :serviceId`,
);
const writeInvoice = statement<never, { serviceId: number; invoiceId: number }>(
  'services.replaceCalendarInvoice',
  'update service_calendar set invoice_id = :invoiceId where service_id = :serviceId',
);
const writeLook = forMany(
  statement<never, { serviceId: number; lookOn: string; warnedOn: string | null; now: Date }>(
    'services.lookAgainOn',
    `update service_calendar set look_on = :lookOn, warned_on = :warnedOn, looked_at = :now
   where service_id = :serviceId`,
  ),
  { serviceId: 'bigint', lookOn: 'date', warnedOn: 'date', now: 'timestamptz' },
  (
    given,
  ) => `update service_calendar c set look_on = given."lookOn", warned_on = given."warnedOn", looked_at = given.now
   from ${given} where c.service_id = given."serviceId"`,
);
const writeProblem = statement<never, { serviceId: number; lookOn: string; problem: string; now: Date }>(
  'services.writeCalendarProblem',
  `update service_calendar set look_on = :lookOn, looked_at = :now, problem_since = coalesce(problem_since, :now), problem = :problem
   where service_id = :serviceId`,
);
const deleteRow = statement<never, { serviceId: number }>(
  'services.leaveCalendar',
  'delete from service_calendar where service_id = :serviceId',
);

/** What a step left behind. */
export interface Done {
  step: Step;
  invoiceId: number | null;
  /** The entry of the journal whose mail tells the customer; null when the step tells nothing. */
  warningId: number | null;
}

/** Writes down that a step was done, once: a second time in the same round fails. */
export async function recordStep(tx: TxContext, row: CalendarRow, done: Done): Promise<void> {
  const { serviceId, organizationId, round } = row;
  const warned =
    done.warningId === null
      ? { warnedStep: row.warnedStep, warningId: row.warningId, warnedOn: row.warnedOn }
      : { warnedStep: done.step, warningId: done.warningId, warnedOn: null };
  const dueOn = row.dueOn ?? row.duedate;
  const { step, invoiceId } = done;
  const now = tx.clock.now();
  await tx.db.run(writeStep, { serviceId, organizationId, dueOn, round, step, invoiceId, ...warned, now });
}

/** Goes through the steps after `step` again, as if that had been told today; null: through all of them. */
export async function startOver(
  tx: TxContext,
  serviceId: number,
  step: Step | null,
  today: string,
): Promise<void> {
  await tx.db.run(writeRestart, { serviceId, step, today });
}

export async function replaceInvoice(tx: TxContext, serviceId: number, invoiceId: number): Promise<void> {
  await tx.db.run(writeInvoice, { serviceId, invoiceId });
}

/** Nothing is to be done before that day. `warnedOn`: the day of the last warning, once it is known to be sent. */
export async function lookAgain(
  tx: TxContext,
  serviceId: number,
  lookOn: string,
  warnedOn: string | null,
): Promise<void> {
  await tx.db.run(writeLook, { serviceId, lookOn, warnedOn, now: tx.clock.now() });
}

/** Keeps why a service cannot go on, for staff; it is tried again. */
export async function writeTrouble(
  tx: TxContext,
  serviceId: number,
  lookOn: string,
  problem: string,
): Promise<void> {
  await tx.db.run(writeProblem, { serviceId, lookOn, problem, now: tx.clock.now() });
}

/** The calendar has nothing to do with a service any more, until its next due date is near. */
export async function leaveCalendar(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(deleteRow, { serviceId });
}
