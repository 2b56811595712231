import { addMonths } from '../catalog/index.ts';
import { daysBetween } from '../platform/index.ts';

/** What is paid for and not used up yet: whole periods, and the days left of the one that runs. */
export interface Remaining {
  wholePeriods: number;
  daysLeft: number;
  daysOfPeriod: number;
}

/**
 * How much of a service is paid for, by the calendar. Days are `YYYY-MM-DD` in UTC; today counts whole. Several
 * periods may be paid ahead. `periodStart` is the first day of the newest period where it is known; without it,
 * or when it does not fit the due date, it is the same day so many months before. `anchorDay` is the day of the month
 * that periods begin on, which a due date at the end of a shorter month does not tell.
 */
export function remainingOf(service: {
  today: string;
  dueDate: string;
  months: number;
  periodStart: string | null;
  anchorDay?: number | null;
}): Remaining {
  const { today, months, periodStart, anchorDay = null } = service;
  const startOf = (end: string) =>
    periodStart !== null && addMonths(periodStart, months, anchorDay) === end
      ? periodStart
      : addMonths(end, -months, anchorDay);
  let end = service.dueDate;
  let start = startOf(end);
  let wholePeriods = 0;
  while (start > today) {
    wholePeriods += 1;
    end = start;
    start = startOf(end);
  }
  return {
    wholePeriods,
    daysLeft: Math.max(0, daysBetween(today, end)),
    daysOfPeriod: daysBetween(start, end),
  };
}

/**
 * The part of a price per period that falls to the time that remains. The one rule of rounding: down to the
 * minor unit, once, over the whole.
 */
export function prorate(priceMinor: number, remaining: Remaining): number {
  const { wholePeriods, daysLeft, daysOfPeriod } = remaining;
  const days = BigInt(wholePeriods) * BigInt(daysOfPeriod) + BigInt(daysLeft);
  return Number((BigInt(priceMinor) * days) / BigInt(daysOfPeriod));
}

/**
 * What a higher price costs for the time that remains. Each price is prorated by itself, so that what one step loses by
 * rounding the next one pays: a change made in steps on one day costs to the cent what it costs at once.
 */
export function prorateRise(beforeMinor: number, afterMinor: number, remaining: Remaining): number {
  return Math.max(0, prorate(afterMinor, remaining) - prorate(beforeMinor, remaining));
}
