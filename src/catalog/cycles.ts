import { dayOf } from '../platform/index.ts';
/** Billing cycles, by the names of the wire, and their length. */
export const monthsOf = {
  monthly: 1,
  quarterly: 3,
  semiannually: 6,
  annually: 12,
  biennially: 24,
  triennially: 36,
} as const;

export type Cycle = keyof typeof monthsOf;

export const cycles = Object.keys(monthsOf) as Cycle[];

export function isCycle(text: string): text is Cycle {
  return Object.hasOwn(monthsOf, text);
}

/**
 * The same day so many months later, or the last day of that month when it is shorter. Dates are `YYYY-MM-DD`. With an
 * `anchorDay`, that day of the month: a month after 28 February it is 31 March again.
 */
export function addMonths(date: string, months: number, anchorDay: number | null = null): string {
  const [year = 0, month = 1, ownDay = 1] = date.split('-').map(Number);
  const day = anchorDay ?? ownDay;
  const target = new Date(Date.UTC(year, month - 1 + months, 1));
  const lastDay = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate();
  target.setUTCDate(Math.min(day, lastDay));
  return dayOf(target);
}
