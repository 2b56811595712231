import {
  addMonths,
  isCycle,
  type Lots,
  lotsOf,
  monthlyOf,
  monthsOf,
  type Product,
} from '../../catalog/index.ts';
import { addDays, daysBetween, requireExact } from '../../platform/index.ts';
import { latest } from '../calendar/schedule.ts';

/** What of a service its price is made of. */
export interface Priced {
  cycle: string;
  priceMinor: number;
  options: Record<string, unknown>;
  unitPrices: Lots;
}

/** A new price that waits for its day. Days are `YYYY-MM-DD` in UTC. */
export interface Coming {
  moveId: number;
  state: 'waiting' | 'telling' | 'told';
  /** What a period of each cycle costs, without units beyond it. */
  cycles: Record<string, number>;
  unitPrices: Lots;
  fromOn: string;
  noticeDays: number;
  /** The first day on which a period may begin at this price; null while its customer was not told. */
  countsOn: string | null;
}

/** What each cycle of a product costs today. */
export function cyclesOf(product: Product): Record<string, number> {
  return Object.fromEntries(product.prices.map(({ cycle, priceMinor }) => [cycle, priceMinor]));
}

/** What the units of a service would be sold for today; those of an option or a value that is gone keep their price. */
export function unitsToday(product: Pick<Product, 'options'>, { options, unitPrices }: Priced): Lots {
  const today = lotsOf(product, options);
  const gone = Object.entries(unitPrices).filter(([key]) => {
    const option = product.options.find((each) => each.key === key);
    if (option === undefined) return true;
    return option.kind === 'choice' && !option.choices.some(({ value }) => value === options[key]);
  });
  return { ...today, ...Object.fromEntries(gone) };
}

/**
 * The price of a period of that cycle with a coming price. A cycle that was not sold when it was decided costs what the
 * service pays for it now; null when that is none of its own.
 */
export function priceWith(
  { cycles, unitPrices }: Pick<Coming, 'cycles' | 'unitPrices'>,
  service: Priced,
  cycle: string = service.cycle,
): number | null {
  if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
  const months = monthsOf[cycle];
  const own = Math.max(0, service.priceMinor - monthlyOf(service.unitPrices) * months);
  const base = cycles[cycle] ?? (cycle === service.cycle ? own : null);
  return base === null ? null : requireExact(base + requireExact(monthlyOf(unitPrices) * months));
}

/** The price that counts for a period that begins on that day: of those that do, the one that was decided last. */
export function countingOn(coming: readonly Coming[], day: string): Coming | null {
  const counting = coming.filter(({ countsOn }) => countsOn !== null && countsOn <= day);
  return counting.reduce<Coming | null>(
    (last, each) => (each.moveId > (last?.moveId ?? 0) ? each : last),
    null,
  );
}

/** The one that counts next, with the day from which it can; null when none was told of. */
export function nextOf(coming: readonly Coming[], today: string): (Coming & { earliestOn: string }) | null {
  const told = coming
    .filter(({ state }) => state !== 'waiting')
    .map((each) => ({ ...each, earliestOn: earliestOf(each, today) }));
  const [first] = told.sort((one, other) =>
    one.earliestOn === other.earliestOn
      ? other.moveId - one.moveId
      : one.earliestOn.localeCompare(other.earliestOn),
  );
  return first ?? null;
}

/** Whether a period that begins on that day has to wait for its price: its customer is to be told of a new one that can reach it. */
export function isUntold(coming: readonly Coming[], day: string, today: string): boolean {
  return coming.some((each) => each.countsOn === null && earliestOf(each, today) <= day);
}

function earliestOf({ countsOn, fromOn, noticeDays }: Coming, today: string): string {
  return countsOn ?? latest(fromOn, addDays(today, noticeDays));
}

/**
 * The day of the first renewal on `earliest` or later, if each period is renewed. `openUntil` is the end of a period that
 * an open invoice asks for, which keeps its price. Null for what is not delivered yet.
 */
export function firstRenewalOn(
  service: { cycle: string; duedate: string | null; anchorDay: number | null },
  earliest: string,
  openUntil: string | null = null,
): string | null {
  const { cycle, duedate, anchorDay } = service;
  if (duedate === null || !isCycle(cycle)) return null;
  const [first, length] = [latest(duedate, openUntil), monthsOf[cycle]];
  // A little too few at first, since months differ in length.
  const months = Math.floor(daysBetween(first, earliest) / 31 / length) * length;
  let day = months > 0 ? addMonths(first, months, anchorDay) : first;
  while (day < earliest) day = addMonths(day, length, anchorDay);
  return day;
}
