/** Opening hours: when somebody is there, by the clock on the wall of a time zone. All arithmetic with them is here. */

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

export type Weekday = (typeof weekdays)[number];

export interface OpeningHours {
  /** As of the IANA: `Europe/Vienna`. */
  timezone: string;
  /** From and to as the clock shows them, `09:00` and up to `24:00`; null is around the clock, holidays or not. */
  hours: readonly { day: Weekday; from: string; to: string }[] | null;
  /** Days without any opening: `2026-12-25`. */
  holidays: readonly string[];
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Nobody waits for what opens later than this. */
const horizonDays = 400;

/** When `ms` of opening time have passed since `from`; null when they will not within a year. */
export function addOpenTime(hours: OpeningHours, from: Date, ms: number): Date | null {
  if (hours.hours === null) return new Date(from.getTime() + ms);
  let left = ms;
  for (const [start, end] of openings(hours, from.getTime())) {
    if (end - start >= left) return new Date(start + left);
    left -= end - start;
  }
  return null;
}

/** How much opening time, in ms, there is between two moments; 0 when the second is not later. */
export function openTimeBetween(hours: OpeningHours, from: Date, to: Date): number {
  const [begin, until] = [from.getTime(), to.getTime()];
  if (until <= begin) return 0;
  if (hours.hours === null) return until - begin;
  let sum = 0;
  for (const [start, end] of openings(hours, begin)) {
    if (start >= until) break;
    sum += Math.min(end, until) - start;
  }
  return sum;
}

/** The stretches of opening time after a moment, in order; the first may begin there. */
function* openings({ timezone, hours, holidays }: OpeningHours, after: number): Generator<[number, number]> {
  const closed = new Set(holidays);
  const spans = weekdays.map((day) =>
    (hours ?? [])
      .filter((each) => each.day === day)
      .map(({ from, to }): [number, number] => [minutesOf(from), minutesOf(to)])
      .toSorted(([one], [other]) => one - other),
  );
  // A day as its wall clock's midnight, read as if it were UTC.
  const first = Math.floor((after + offsetAt(timezone, after)) / dayMs) * dayMs;
  for (let index = 0; index <= horizonDays; index += 1) {
    const day = first + index * dayMs;
    const date = new Date(day);
    if (closed.has(date.toISOString().slice(0, 10))) continue;
    for (const [from, to] of spans[(date.getUTCDay() + 6) % 7] ?? []) {
      const start = Math.max(momentOf(timezone, day + from * minuteMs), after);
      const end = momentOf(timezone, day + to * minuteMs);
      if (end > start) yield [start, end];
    }
  }
}

/** `09:30` in minutes. */
export function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}

/**
 * The first moment of its day at which the clock on the wall shows `wall` or later. A time that is skipped in spring is
 * the moment of the change; one that comes twice in autumn is the first of the two.
 */
function momentOf(timezone: string, wall: number): number {
  const around = [offsetAt(timezone, wall - dayMs), offsetAt(timezone, wall + dayMs)];
  const [earlier, later] = [wall - Math.max(...around), wall - Math.min(...around)];
  if (offsetAt(timezone, earlier) === wall - earlier) return earlier;
  if (offsetAt(timezone, later) === wall - later) return later;
  let [before, changed] = [earlier - dayMs, later];
  while (changed - before > 1) {
    const middle = Math.floor((before + changed) / 2);
    if (middle + offsetAt(timezone, middle) < wall) before = middle;
    else changed = middle;
  }
  return changed;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far the clock on the wall is ahead of UTC, in ms. */
function offsetAt(timezone: string, at: number): number {
  let clock = clocks.get(timezone);
  if (clock === undefined) {
    const numbers = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const times = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
    clock = new Intl.DateTimeFormat('en-US', { timeZone: timezone, ...numbers, ...times });
    clocks.set(timezone, clock);
  }
  const shown: Record<string, number> = {};
  for (const { type, value } of clock.formatToParts(at)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}
