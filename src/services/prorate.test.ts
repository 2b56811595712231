import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMonths, cycles, monthsOf } from '../catalog/index.ts';
import { prorate, prorateRise, type Remaining, remainingOf } from './prorate.ts';

const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);

const day = fc.integer({ min: 0, max: 40_000 }).map((days) => addDays('1999-01-01', days));
const months = fc.constantFrom(...cycles).map((cycle) => monthsOf[cycle]);
const price = fc.integer({ min: 0, max: 10_000_000 });
const period = fc.record({ periodStart: day, months });
const remaining: fc.Arbitrary<Remaining> = fc
  .record({
    wholePeriods: fc.nat(3),
    daysOfPeriod: fc.integer({ min: 28, max: 1_096 }),
    part: fc.nat(10_000),
  })
  .map(({ part, ...rest }) => ({ ...rest, daysLeft: part % (rest.daysOfPeriod + 1) }));

describe('what remains of a service', () => {
  it('is its whole period on the first day, every day of it, and nothing on the day it is due', () => {
    fc.assert(
      fc.property(period, (service) => {
        const dueDate = addMonths(service.periodStart, service.months);
        const at = (today: string) => remainingOf({ ...service, today, dueDate });
        const first = at(service.periodStart);
        expect(first).toMatchObject({ wholePeriods: 0, daysLeft: first.daysOfPeriod });
        expect(addDays(service.periodStart, first.daysOfPeriod)).toBe(dueDate);
        expect(at(addDays(dueDate, -1)).daysLeft).toBe(1);
        expect(at(dueDate).daysLeft).toBe(0);
      }),
    );
  });

  it('counts periods that are paid ahead whole', () => {
    fc.assert(
      fc.property(day, months, fc.integer({ min: 1, max: 5 }), (today, length, ahead) => {
        let dueDate = addMonths(today, length);
        for (let nth = 0; nth < ahead; nth += 1) dueDate = addMonths(dueDate, length);
        const left = remainingOf({ today, dueDate, months: length, periodStart: null });
        // At the end of a short month the days before it are ambiguous, by one period at most.
        expect([ahead, ahead + 1]).toContain(
          left.wholePeriods + Math.round(left.daysLeft / left.daysOfPeriod),
        );
        expect(left.daysLeft).toBeLessThanOrEqual(left.daysOfPeriod);
      }),
    );
  });

  it('knows real months: of 28 February after 31 January, 28 days', () => {
    const service = { dueDate: '2026-02-28', months: 1, periodStart: '2026-01-31' };
    expect(remainingOf({ ...service, today: '2026-01-31' })).toEqual({
      wholePeriods: 0,
      daysLeft: 28,
      daysOfPeriod: 28,
    });
    expect(remainingOf({ ...service, today: '2026-02-14' })).toMatchObject({
      daysLeft: 14,
      daysOfPeriod: 28,
    });
    const leap = { dueDate: '2028-03-01', months: 1, periodStart: '2028-02-01', today: '2028-02-15' };
    expect(remainingOf(leap)).toMatchObject({ daysLeft: 15, daysOfPeriod: 29 });
  });

  it('does not believe a beginning that does not fit the due date', () => {
    const service = { today: '2026-05-11', dueDate: '2026-06-01', months: 1, periodStart: '2026-01-01' };
    expect(remainingOf(service)).toEqual({ wholePeriods: 0, daysLeft: 21, daysOfPeriod: 31 });
  });
});

describe('a prorated price', () => {
  it('is never negative, never more than the periods cost, and the whole price of a whole period', () => {
    fc.assert(
      fc.property(price, remaining, (minor, left) => {
        const charge = prorate(minor, left);
        expect(charge).toBeGreaterThanOrEqual(0);
        expect(charge).toBeLessThanOrEqual(minor * (left.wholePeriods + 1));
        expect(prorate(minor, { ...left, daysLeft: left.daysOfPeriod })).toBe(
          minor * (left.wholePeriods + 1),
        );
        expect(prorate(minor, { ...left, daysLeft: 0 })).toBe(minor * left.wholePeriods);
        expect(Number.isSafeInteger(charge)).toBe(true);
      }),
    );
  });

  it('only falls as time passes', () => {
    fc.assert(
      fc.property(price, period, (minor, service) => {
        const dueDate = addMonths(service.periodStart, service.months);
        let before = minor;
        for (let today = service.periodStart; today <= dueDate; today = addDays(today, 1 + service.months)) {
          const now = prorate(minor, remainingOf({ ...service, today, dueDate }));
          expect(now).toBeLessThanOrEqual(before);
          before = now;
        }
      }),
      { numRuns: 50 },
    );
  });

  it('that rises in steps, however many, costs to the cent what it costs at once', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(price, steps, remaining, (from, rises, left) => {
        let at = from;
        let paid = 0;
        for (const rise of rises) {
          paid += prorateRise(at, at + rise, left);
          at += rise;
        }
        expect(paid).toBe(prorateRise(from, at, left));
        expect(Math.abs(paid - prorate(at - from, left))).toBeLessThanOrEqual(1);
        expect(prorateRise(at, from, left)).toBe(0);
      }),
    );
  });

  it('over the two parts of a time is the same as over the whole, or a minor unit less', () => {
    fc.assert(
      fc.property(price, remaining, fc.nat(), (minor, left, at) => {
        const part = at % (left.daysLeft + 1);
        const of = (daysLeft: number) => prorate(minor, { ...left, wholePeriods: 0, daysLeft });
        expect([0, 1]).toContain(of(left.daysLeft) - (of(part) + of(left.daysLeft - part)));
      }),
    );
  });
});
