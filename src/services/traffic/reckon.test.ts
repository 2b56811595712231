import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrafficTerms } from '../../catalog/index.ts';
import { countedBytes, overThousandths, shareOfMonth } from './reckon.ts';

const whole = { days: 30, ofDays: 30 };
const total: TrafficTerms = { billing: 'total', included: 2, priceMinor: 150, direction: 'greater' };
const percentile: TrafficTerms = { ...total, billing: 'percentile95', included: 100 };
const gb = 1_000_000_000;
/** Of one Mbit/s in five minutes. */
const mbit = 37_500_000;

describe('what goes beyond what is included', () => {
  it('is cut off to a GB, or to a kbit/s, and never negative', () => {
    expect(overThousandths(total, 2_000 * gb, whole)).toBe(0);
    expect(overThousandths(total, 2_001 * gb - 1, whole)).toBe(0);
    expect(overThousandths(total, 2_001 * gb, whole)).toBe(1);
    expect(overThousandths(percentile, 100 * mbit, whole)).toBe(0);
    expect(overThousandths(percentile, 101 * mbit, whole)).toBe(1_000);
    expect(overThousandths(percentile, 0, whole)).toBe(0);
  });

  it('of a part of a month is beyond that part of the TB, and is that part of the Mbit/s', () => {
    expect(overThousandths(total, 2_000 * gb, { days: 15, ofDays: 30 })).toBe(1_000);
    expect(overThousandths(percentile, 140 * mbit, { days: 15, ofDays: 30 })).toBe(20_000);
  });

  it('goes by the direction that the terms name', () => {
    const used = { totalBytes: 9, receivedPercentileBytes: 3, sentPercentileBytes: 5 };
    const by = (terms: Partial<TrafficTerms>) => countedBytes({ ...percentile, ...terms }, used);
    expect([by({}), by({ direction: 'in' }), by({ direction: 'out' }), by({ billing: 'total' })]).toEqual([
      5, 3, 5, 9,
    ]);
  });

  it('is what remains of all bytes, to less than a thousandth, whatever they and the days are', () => {
    const terms = fc.record({
      billing: fc.constantFrom('total' as const, 'percentile95' as const),
      included: fc.nat(1_000_000),
      priceMinor: fc.nat(1_000_000),
      direction: fc.constant('greater' as const),
    });
    const share = fc
      .tuple(fc.integer({ min: 28, max: 31 }), fc.nat(31))
      .map(([ofDays, days]) => ({ ofDays, days: Math.min(days, ofDays) }));
    fc.assert(
      fc.property(terms, fc.nat(2 ** 50), share, (given, bytes, part) => {
        const over = overThousandths(given, bytes, part);
        const unit = given.billing === 'total' ? 10n ** 12n : 37_500_000n;
        const [counted, included] = [BigInt(bytes), BigInt(given.included) * unit];
        const [days, ofDays] = [BigInt(part.days), BigInt(part.ofDays)];
        // All in thousandths of a unit times the days of the month, which has no fraction.
        const exact =
          given.billing === 'total'
            ? (counted * ofDays - included * days) * 1_000n
            : (counted - included) * days * 1_000n;
        const least = BigInt(over) * unit * ofDays;
        if (exact <= 0n) expect(over).toBe(0);
        else expect(least <= exact && exact < least + unit * ofDays).toBe(true);
        expect(overThousandths(given, bytes + 1, part)).toBeGreaterThanOrEqual(over);
      }),
    );
  });
});

describe('the part of a month', () => {
  it.each([
    ['2026-03', '2026-01-31', null, 31, 31],
    ['2026-03', '2026-03-10', null, 22, 31],
    ['2026-03', '2026-03-31', null, 1, 31],
    ['2026-02', '2026-01-01', '2026-02-01', 1, 28],
    ['2024-02', '2024-02-03', '2024-02-05', 3, 29],
    ['2026-02', '2026-03-01', null, 0, 28],
    ['2026-02', '2025-03-01', '2026-01-31', 0, 28],
  ])('%s from %s to %s is %i of %i days', (month, began, ended, days, ofDays) => {
    expect(shareOfMonth(month, began, ended)).toEqual({ days, ofDays });
  });

  it('of two services that have a server one day after the other is the month', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (day) => {
        const on = (nth: number) => `2026-03-${String(nth).padStart(2, '0')}`;
        const first = shareOfMonth('2026-03', '2026-01-01', on(day));
        const second = shareOfMonth('2026-03', on(day + 1), null);
        expect(first.days + second.days).toBe(31);
      }),
    );
  });
});
