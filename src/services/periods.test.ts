import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, daysBetween } from '../platform/index.ts';

import { carried } from './periods.ts';

describe('a period that paid a part of another one', () => {
  const year = { invoiceId: 1, startsOn: '2027-01-01', endsOn: '2028-01-01' };

  it('is used up by the days of that one', () => {
    // 335 of 365 days are left on the day on which a month of 28 days begins: of 31 days, 28 are left.
    const month = { startsOn: '2027-01-31', endsOn: '2027-02-28' };
    expect(carried(year, month)).toEqual({ invoiceId: 1, startsOn: '2027-01-28', endsOn: '2027-02-28' });
    // Half of a month that paid a part of a year lasts as long as the year.
    const april = { invoiceId: 2, startsOn: '2027-04-01', endsOn: '2027-05-01' };
    const anew = { startsOn: '2027-04-16', endsOn: '2028-04-16' };
    expect(carried(april, anew)).toEqual({ invoiceId: 2, startsOn: '2026-04-15', endsOn: '2028-04-16' });
  });

  it('that was to begin later is used up by it whole, and one that is over not at all', () => {
    const month = { startsOn: '2026-11-05', endsOn: '2026-12-05' };
    expect(carried(year, month)).toEqual({ invoiceId: 1, ...month });
    const later = { startsOn: '2028-01-01', endsOn: '2028-02-01' };
    expect(carried(year, later)).toEqual(year);
  });

  it('has left what it had left, or less, and that falls to nothing with the days of that one', () => {
    const day = fc.integer({ min: 0, max: 2_000 }).map((days) => addDays('2027-01-01', days));
    const length = fc.integer({ min: 1, max: 1_100 });
    fc.assert(
      fc.property(day, length, day, length, (startsOn, days, from, months) => {
        const period = { invoiceId: 1, startsOn, endsOn: addDays(startsOn, days) };
        const anew = { startsOn: from, endsOn: addDays(from, months) };
        fc.pre(from < period.endsOn);
        const after = carried(period, anew);
        const part = ({ startsOn: first, endsOn: last }: typeof period, today: string) =>
          Math.min(1, daysBetween(today, last) / daysBetween(first, last));
        expect(part(after, from)).toBeLessThanOrEqual(part(period, from));
        expect(part(after, from)).toBeGreaterThan(part(period, from) * (1 - 1 / months) - 1e-9);
        expect(after.endsOn).toBe(anew.endsOn);
        expect(carried(after, { startsOn: anew.endsOn, endsOn: addDays(anew.endsOn, 30) })).toEqual(after);
      }),
    );
  });
});
