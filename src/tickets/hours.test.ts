import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addOpenTime, minutesOf, type OpeningHours, openTimeBetween, weekdays } from './hours.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Nine to five, Monday to Friday. */
const office = (timezone: string, holidays: string[] = []): OpeningHours => ({
  timezone,
  hours: weekdays.slice(0, 5).map((day) => ({ day, from: '09:00', to: '17:00' })),
  holidays,
});

// Their clocks change by an hour at two at night, by half an hour, at midnight, and never.
const zones = [
  'Europe/Vienna',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kolkata',
  'UTC',
];
const wallClocks = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);

/** Whether somebody is there in this minute, by the wall clock alone. */
function isOpen({ timezone, hours, holidays }: OpeningHours, at: number): boolean {
  const [date = '', time = ''] = (wallClocks.get(timezone)?.format(at) ?? '').split(' ');
  if (holidays.includes(date)) return false;
  const day = weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7];
  const minute = minutesOf(time.slice(0, 5));
  return (hours ?? []).some(
    (span) => span.day === day && minutesOf(span.from) <= minute && minute < minutesOf(span.to),
  );
}

const clock = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

const anyHours = fc
  .record({
    timezone: fc.constantFrom(...zones),
    spans: fc.array(
      fc.record({
        day: fc.constantFrom(...weekdays),
        // One for each third of the day, so that none meet.
        part: fc.integer({ min: 0, max: 2 }),
        from: fc.integer({ min: 0, max: 230 }),
        length: fc.integer({ min: 10, max: 250 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    holidays: fc.array(fc.constantFrom('2026-03-28', '2026-03-29', '2026-10-25', '2026-10-26'), {
      maxLength: 2,
    }),
  })
  .map(({ timezone, spans, holidays }): OpeningHours => {
    const once = new Map(spans.map((span) => [`${span.day} ${span.part}`, span]));
    const hours = [...once.values()].map(({ day, part, from, length }) => ({
      day,
      from: clock(part * 480 + from),
      to: clock(part * 480 + Math.min(480, from + length)),
    }));
    return { timezone, hours, holidays };
  });

/** Around the days on which clocks change, north and south. */
const anyMoment = fc
  .record({
    near: fc.constantFrom(
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-03-08T07:00Z',
      '2026-04-05T03:00Z',
      '2026-09-06T04:00Z',
    ),
    minutes: fc.integer({ min: -4_000, max: 4_000 }),
  })
  .map(({ near, minutes }) => new Date(new Date(near).getTime() + minutes * minuteMs));

describe('opening hours', () => {
  it.each([
    ['within a day', '2026-06-01T08:00Z', 2, '2026-06-01T10:00Z'],
    ['begun before opening', '2026-06-01T01:00Z', 1, '2026-06-01T08:00Z'],
    ['over the night', '2026-06-01T14:00Z', 2, '2026-06-02T08:00Z'],
    ['over the weekend', '2026-06-05T14:30Z', 1, '2026-06-08T07:30Z'],
    ['over the change to summer time', '2026-03-27T15:00Z', 2, '2026-03-30T08:00Z'],
    ['over the change back', '2026-10-23T14:00Z', 2, '2026-10-26T09:00Z'],
  ])('count %s as the clock in Vienna shows it', (_, from, hours, until) => {
    const due = addOpenTime(office('Europe/Vienna'), new Date(from), hours * hourMs);
    expect(due).toEqual(new Date(until));
  });

  it('leave out holidays, and are around the clock without any said', () => {
    const from = new Date('2026-06-01T14:00Z');
    expect(addOpenTime(office('Europe/Vienna', ['2026-06-02']), from, 2 * hourMs)).toEqual(
      new Date('2026-06-03T08:00Z'),
    );
    const always = { timezone: 'UTC', hours: null, holidays: ['2026-06-01'] };
    expect(addOpenTime(always, from, 2 * hourMs)).toEqual(new Date('2026-06-01T16:00Z'));
    expect(openTimeBetween(always, from, new Date('2026-06-03T14:00Z'))).toBe(48 * hourMs);
  });

  it('that never come are said to be none', () => {
    expect(addOpenTime({ timezone: 'UTC', hours: [], holidays: [] }, new Date(), hourMs)).toBeNull();
  });

  it('hold a whole day of 23 and of 25 hours', () => {
    const sunday = {
      timezone: 'Europe/Vienna',
      hours: [{ day: 'sunday', from: '00:00', to: '24:00' }],
      holidays: [],
    } as const;
    const around = (day: string) =>
      openTimeBetween(
        sunday,
        new Date(`${day}T00:00Z`),
        new Date(new Date(`${day}T00:00Z`).getTime() + 72 * hourMs),
      );
    expect(around('2026-03-28')).toBe(23 * hourMs);
    expect(around('2026-10-24')).toBe(25 * hourMs);
  });

  it('fit together: what is added is between, and no moment sooner would do', () => {
    fc.assert(
      fc.property(anyHours, anyMoment, fc.integer({ min: 1, max: 3_000 }), (hours, from, minutes) => {
        const until = addOpenTime(hours, from, minutes * minuteMs);
        if (until === null) return;
        expect(openTimeBetween(hours, from, until)).toBe(minutes * minuteMs);
        expect(openTimeBetween(hours, from, new Date(until.getTime() - 1))).toBe(minutes * minuteMs - 1);
      }),
      { numRuns: 60 },
    );
  });

  it('add up, wherever a stretch is cut', () => {
    fc.assert(
      fc.property(anyHours, anyMoment, anyMoment, anyMoment, (hours, ...moments) => {
        const [first, second, third] = moments.toSorted((one, other) => one.getTime() - other.getTime());
        if (!first || !second || !third) return;
        const sum = openTimeBetween(hours, first, second) + openTimeBetween(hours, second, third);
        expect(openTimeBetween(hours, first, third)).toBe(sum);
        expect(openTimeBetween(hours, third, first)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('are what somebody counts who looks at the clock every minute, also where it jumps ahead', () => {
    fc.assert(
      fc.property(anyHours, fc.constantFrom('2026-03-29T00:00Z', '2026-06-01T00:00Z'), (hours, day) => {
        const from = new Date(day).getTime();
        let counted = 0;
        for (let minute = 0; minute < 30 * 60; minute += 1) {
          if (isOpen(hours, from + minute * minuteMs)) counted += minuteMs;
        }
        expect(openTimeBetween(hours, new Date(from), new Date(from + 30 * hourMs))).toBe(counted);
      }),
      { numRuns: 20 },
    );
  });
});
