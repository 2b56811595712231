/** The rules of money and days, written down a second time: what the product does is held against them. */

export const minorOf = (text: string) => Math.round(Number(text) * 100);
export const textOf = (minor: number) => (minor / 100).toFixed(2);

/** So many per cent of an amount, rounded half up. */
export function percentOf(minor: number, percent: number): number {
  return Math.floor((2 * minor * percent + 100) / 200);
}

/** Parts of an amount as equal as can be; the first ones get what is left. */
export function inEqualParts(minor: number, parts: number): number[] {
  const least = Math.floor(minor / parts);
  return Array.from({ length: parts }, (_, at) => least + (at < minor - least * parts ? 1 : 0));
}

const msPerDay = 86_400_000;

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / msPerDay;
}

export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * msPerDay));
}

/** The same day of the next month, or its last one; `anchor` is the day of the month that it all began on. */
export function monthAfter(day: string, anchor: number): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return dayOf(new Date(Date.UTC(year, month, Math.min(anchor, lastDay))));
}

/** The same day so many months later, or the last one of that month. */
export function monthsAfter(day: string, months: number): string {
  const anchor = Number(day.slice(8));
  let reached = day;
  for (let nth = 0; nth < months; nth += 1) reached = monthAfter(reached, anchor);
  return reached;
}

/**
 * A period of which what was left has paid for a part of a new one: it is used up by the days of that, as a period that ends with
 * it, and of which as large a part is left.
 */
export function carriedInto(
  period: { from: string; to: string },
  anew: { from: string; to: string },
): { from: string; to: string } {
  const days = daysBetween(period.from, period.to);
  const left = Math.min(days, daysBetween(anew.from, period.to));
  if (left <= 0) return { from: period.from, to: period.to };
  const longer = Math.ceil((daysBetween(anew.from, anew.to) * days) / left);
  return { from: addDays(anew.to, -longer), to: anew.to };
}

/** What a price per period is worth from a day on, over periods that follow each other, rounded down once. */
export function worthFrom(
  today: string,
  priceMinor: number,
  periods: readonly { from: string; to: string }[],
) {
  const current = periods.find(({ from, to }) => from <= today && today < to);
  if (current === undefined) throw new Error(`no period runs on ${today}`);
  const ahead = periods.filter(({ from }) => from > today).length;
  const length = daysBetween(current.from, current.to);
  return Math.floor((priceMinor * (ahead * length + daysBetween(today, current.to))) / length);
}
