import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deferredOf, partOf } from './months.ts';

describe('the parts of a period', () => {
  const day = (offset: number) =>
    new Date(Date.UTC(2027, 0, 1) + offset * 86_400_000).toISOString().slice(0, 10);

  it('add up to the whole, are never negative, and fall to months by their days', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 1, max: 1_200 }),
        fc.integer({ min: 0, max: 10_000_000 }),
        (start, days, totalMinor) => {
          const end = day(start + days);
          let row = {
            ...{ id: 1, organization_id: 1, currency: 'EUR', left_minor: totalMinor },
            ...{ earned_until: day(start), ends_on: end, earns_on: '' },
          };
          const firstOf = (from: string) => {
            const [year = 0, month = 0] = from.split('-').map(Number);
            const following = new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
            return following < end ? following : end;
          };
          let sum = 0;
          for (let next: string | null = firstOf(row.earned_until); next !== null; ) {
            const daysOfPart = (Date.parse(next) - Date.parse(row.earned_until)) / 86_400_000;
            const part = partOf({ ...row, earns_on: next });
            expect(part.amountMinor).toBeGreaterThanOrEqual(0);
            // By days, give or take what rounding of the months before left over.
            expect(Math.abs(part.amountMinor - (totalMinor * daysOfPart) / days)).toBeLessThan(
              daysOfPart / 28 + 2,
            );
            sum += part.amountMinor;
            row = { ...row, left_minor: row.left_minor - part.amountMinor, earned_until: part.until ?? '' };
            next = part.next;
          }
          expect(sum).toBe(totalMinor);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of the lines of an invoice add up to what is not tax, by service', () => {
    const lines = [
      { service_id: 1, minor: 100 },
      { service_id: 2, minor: 50 },
      { service_id: 1, minor: 7 },
      { service_id: null, minor: 3 },
    ];
    expect(deferredOf(160, lines)).toEqual([
      { serviceId: 1, amountMinor: 107 },
      { serviceId: 2, amountMinor: 50 },
    ]);
    expect(deferredOf(0, [{ service_id: 1, minor: 0 }])).toEqual([]);
  });

  it('of lines that do not add up, or take something off, are shares of what is not tax', () => {
    const lines = [
      { service_id: 1, minor: 100 },
      { service_id: 2, minor: 50 },
    ];
    // With the tax inside the lines only a part of them is ours.
    expect(deferredOf(120, lines)).toEqual([
      { serviceId: 1, amountMinor: 80 },
      { serviceId: 2, amountMinor: 40 },
    ]);
    expect(deferredOf(90, [...lines, { service_id: 3, minor: -60 }])).toEqual([
      { serviceId: 1, amountMinor: 60 },
      { serviceId: 2, amountMinor: 30 },
    ]);
  });

  it('say which month they are of, which day they count for, and what comes next', () => {
    const row = {
      ...{ id: 7, organization_id: 8, currency: 'EUR', left_minor: 3_100 },
      ...{ earned_until: '2027-01-16', ends_on: '2027-02-16', earns_on: '2027-02-01' },
    };
    const about = { id: 7, organization_id: 8, currency: 'EUR' };
    expect(partOf(row)).toEqual({
      ...{ ...about, amountMinor: 1_600, month: '2027-01-01', countsOn: '2027-01-31' },
      ...{ fromDay: 16, until: '2027-02-01', next: '2027-02-16' },
    });
    const rest = { ...row, left_minor: 1_500, earned_until: '2027-02-01', earns_on: '2027-02-16' };
    expect(partOf(rest)).toEqual({
      ...{ ...about, amountMinor: 1_500, month: '2027-02-01', countsOn: '2027-02-15' },
      ...{ fromDay: 1, until: '2027-02-16', next: null },
    });
    const december = { ...row, earned_until: '2027-11-16', ends_on: '2028-03-01', earns_on: '2027-12-01' };
    expect(partOf(december)).toMatchObject({ countsOn: '2027-11-30', next: '2028-01-01' });
    expect(partOf({ ...december, earns_on: '2028-02-01' })).toMatchObject({ next: '2028-03-01' });
    // What ends on the day on which it begins counts for that day.
    const none = { ...row, ends_on: '2027-01-16', earns_on: '2027-01-16' };
    expect(partOf(none)).toMatchObject({ amountMinor: 3_100, countsOn: '2027-01-16', next: null });
  });
});
