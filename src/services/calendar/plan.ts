import { addDays, daysBetween } from '../../platform/index.ts';
import type { CalendarSettings } from '../settings.ts';
import type { ServiceStatus } from '../states.ts';
import type { SuspendedBy } from '../suspend/lock.ts';
import { daysOf, latest, type Step, spared, steps } from './schedule.ts';

const longAgo = '0001-01-01';
const beforeDue: ReadonlySet<Step | null> = new Set<Step>(['invoice', 'reminder', 'charge']);

/** What is known of a service whose paid time is near its end. Days are `YYYY-MM-DD` in UTC. */
export interface Situation {
  status: ServiceStatus;
  suspendedBy: SuspendedBy | null;
  /** It ends with its paid time, as its customer asked. */
  cancelled: boolean;
  autoRenew: boolean;
  /** Day until which it is paid for now. */
  duedate: string;
  /** The day that the calendar is at work for. */
  dueOn: string;
  invoice: Invoice | null;
  /** What was done last; null: nothing yet. */
  step: Step | null;
  /** The last step that told the customer something, and the day on which that was sent; null: it was not, yet. */
  warning: { step: Step; sentOn: string | null } | null;
  /** Until when somebody promised to pay, the last such day; it may be over. */
  promisedUntil: string | null;
  /** Whether money for the invoice is on its way. */
  isBeingPaid: boolean;
}

export interface Invoice {
  status: string;
  issuedOn: string;
  dueOn: string;
}

/** What comes next, and not before which day; `waits`: nothing until something else happens. */
export type Next =
  | { do: Step; on: string }
  /** Once more through the steps after this one, warnings and all; null: through all of them. */
  | { do: 'start_over'; from: Step | null; on: string }
  | { waits: 'mail' | 'staff' | 'payment' }
  | { over: true };

/**
 * The one rule of the calendar: what comes next for a service, and on which day. The job that does it and the preview
 * that tells of it both ask here. A step is taken no earlier than its day, and no earlier after the warning before it
 * was really sent than the calendar has days between the two: after a standstill, ours or the mail server's, nobody
 * finds several of them in one mail box on one morning.
 */
export function nextOf(situation: Situation, settings: CalendarSettings): Next {
  const { status, duedate, dueOn, cancelled, autoRenew, invoice } = situation;
  if ((status !== 'active' && status !== 'suspended') || duedate !== dueOn) return { over: true };
  if (cancelled) return { do: 'end', on: dueOn };
  if (!autoRenew) return nextOfEnding(situation, settings);
  // It was to end with its paid time, and its customer thought better of it.
  if (situation.step === 'ending_notice')
    return { do: 'start_over', from: invoice === null ? null : 'invoice', on: longAgo };
  if (invoice === null) return { do: 'invoice', on: addDays(dueOn, -settings.invoice_days_before) };
  if (invoice.status !== 'unpaid' && invoice.status !== 'cancelled') return { over: true };
  return nextOfUnpaid(situation, invoice, settings);
}

function nextOfEnding(
  { dueOn, warning }: Situation,
  { ending_notice_days_before: days }: CalendarSettings,
): Next {
  if (warning?.step !== 'ending_notice') return { do: 'ending_notice', on: addDays(dueOn, -days) };
  if (warning.sentOn === null) return { waits: 'mail' };
  return { do: 'end', on: latest(dueOn, addDays(warning.sentOn, days)) };
}

function nextOfUnpaid(situation: Situation, invoice: Invoice, settings: CalendarSettings): Next {
  const { status, suspendedBy, warning, promisedUntil } = situation;
  // It was cancelled, or another cycle was asked for, before it was due: the invoice in its place is told of at once. One
  // that was issued in its place on the day or later is not: asking again and again gains nobody another month.
  if (invoice.status === 'cancelled' && beforeDue.has(situation.step) && invoice.issuedOn < situation.dueOn)
    return { do: 'start_over', from: null, on: longAgo };
  const days = daysOf(settings);
  const order: readonly (Step | null)[] = steps;
  const done = order.indexOf(situation.step);
  const next = steps.find((step, index) => index > done && days[step] !== null);
  const day = next === undefined ? null : days[next];
  if (next === undefined || day === null) return { waits: 'payment' };
  if (status === 'suspended' && suspendedBy === 'staff' && (next === 'suspend' || next === 'terminate'))
    return { waits: 'staff' };
  // Staff let it run again although it is not paid: it is warned and suspended anew before it ends.
  if (next === 'terminate' && status === 'active') return { do: 'start_over', from: 'overdue', on: longAgo };
  if (spared.has(next) && situation.isBeingPaid) return { waits: 'payment' };
  const planned = addDays(invoice.dueOn, day);
  // Money may be asked for whatever became of a mail.
  if (warning === null || next === 'charge') return { do: next, on: planned };
  // It is told of nothing more, but what is due is asked for all the same.
  if (warning.sentOn === null)
    return done < steps.indexOf('charge')
      ? { do: 'charge', on: addDays(invoice.dueOn, days.charge ?? 0) }
      : { waits: 'mail' };
  const told = spared.has(next) ? latest(warning.sentOn, promisedUntil) : warning.sentOn;
  return { do: next, on: latest(planned, addDays(told, gapBefore(day, warning.step, invoice, settings))) };
}

/** Days that a customer has between a warning and what follows it: as many as were planned, and at least one. */
function gapBefore(day: number, warned: Step, invoice: Invoice, settings: CalendarSettings): number {
  const days = daysOf(settings);
  // An invoice that could not be issued in time has its own day, from which everything counts.
  const issued = Math.max(-settings.invoice_days_before, -daysBetween(invoice.issuedOn, invoice.dueOn));
  const before = warned === 'invoice' ? issued : days[warned as keyof typeof days];
  return Math.max(1, day - (before ?? issued));
}
