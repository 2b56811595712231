import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addDays, dayOf, daysBetween } from './days.ts';

const day = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((moment) => dayOf(moment));

it('a day so many days later is so many days away, over leap days and changes of the clock', () => {
  fc.assert(
    fc.property(day, fc.integer({ min: -5_000, max: 5_000 }), (from, days) => {
      expect(daysBetween(from, addDays(from, days))).toBe(days);
      expect(addDays(addDays(from, days), -days)).toBe(from);
    }),
  );
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(dayOf(new Date('2027-03-28T23:59:59.999Z'))).toBe('2027-03-28');
});
