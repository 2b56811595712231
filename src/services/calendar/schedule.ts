import type { CalendarSettings } from '../settings.ts';

/** What the calendar does with a service whose paid time is near its end, in the order in which it does it. */
export const steps = [
  'invoice',
  'reminder',
  'charge',
  'overdue',
  'last_reminder',
  'late_fee',
  'suspend',
  'terminate',
] as const;

/** What it does with one that ends with its paid time. */
export const endings = ['ending_notice', 'end'] as const;

export type Step = (typeof steps)[number] | (typeof endings)[number];

/** Steps that tell the customer what comes next: the one after counts its days from when this one was sent. */
export const warnings: ReadonlySet<Step> = new Set([
  'invoice',
  'reminder',
  'overdue',
  'last_reminder',
  'suspend',
  'ending_notice',
]);

/** Steps of which one that promised to pay is spared until then. */
export const spared: ReadonlySet<Step> = new Set([
  'overdue',
  'last_reminder',
  'late_fee',
  'suspend',
  'terminate',
]);

/** The day of each step, counted from the day on which the invoice is due; null: it is left out. */
export function daysOf(settings: CalendarSettings): Record<(typeof steps)[number], number | null> {
  const { reminder_days_before: reminder, charge_days_before: charge } = settings;
  return {
    invoice: -settings.invoice_days_before,
    reminder: reminder === null ? null : -reminder,
    charge: -charge,
    overdue: settings.overdue_days_after,
    last_reminder: settings.last_reminder_days_after,
    late_fee: settings.late_fee_days_after,
    suspend: settings.suspend_days_after,
    terminate: settings.terminate_days_after,
  };
}

export function latest(...days: (string | null)[]): string {
  return days.reduce<string>((last, day) => (day !== null && day > last ? day : last), '0001-01-01');
}
