/** Months of the calendar (UTC) as `2026-10`. */
export type Month = string;

export function monthOf(time: Date): Month {
  return time.toISOString().slice(0, 7);
}

/** The month so many months later; earlier with a minus. */
export function monthsLater(month: Month, months: number): Month {
  const [year = 0, ordinal = 1] = month.split('-').map(Number);
  return monthOf(new Date(Date.UTC(year, ordinal - 1 + months, 1)));
}

export function firstDayOf(month: Month): string {
  return `${month}-01`;
}

export function lastDayOf(month: Month): string {
  const following = Date.parse(`${monthsLater(month, 1)}-01T00:00:00Z`);
  return new Date(following - 86_400_000).toISOString().slice(0, 10);
}
