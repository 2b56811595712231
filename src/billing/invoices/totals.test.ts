import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { totalsOf } from './totals.ts';

describe('the sums of an invoice', () => {
  const lines = fc.array(
    fc.record({
      priceMinor: fc.nat(10 ** 9),
      setupFeeMinor: fc.nat(10 ** 6),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('add up, with the tax rounded once over the whole, on top or inside', () => {
    fc.assert(
      fc.property(lines, fc.nat(10_000), fc.boolean(), (drawn, rateBasisPoints, included) => {
        const made = drawn.map(({ part, ...line }) => ({
          ...line,
          discountMinor: Math.floor((line.priceMinor + line.setupFeeMinor) * part),
        }));
        const sums = totalsOf(made, { included, rateBasisPoints });
        const left = sums.subtotalMinor - sums.discountMinor;
        expect(sums.totalMinor).toBe(included ? left : left + sums.taxMinor);
        const net = sums.totalMinor - sums.taxMinor;
        expect(sums.taxMinor).toBeGreaterThanOrEqual(0);
        expect(net).toBeGreaterThanOrEqual(0);
        // Half a unit at most from the exact tax of the net amount on top, and of the whole inside.
        const [of, whole] = included ? [left, 10_000 + rateBasisPoints] : [left, 10_000];
        const off = BigInt(sums.taxMinor) * BigInt(whole) - BigInt(of) * BigInt(rateBasisPoints);
        expect(2n * off <= BigInt(whole) && -2n * off < BigInt(whole)).toBe(true);
      }),
    );
  });

  it('say what they are made of', () => {
    const lines = [
      { priceMinor: 1_000, setupFeeMinor: 500, discountMinor: 100 },
      { priceMinor: 600, setupFeeMinor: 0, discountMinor: 0 },
    ];
    const sums = { subtotalMinor: 2_100, discountMinor: 100 };
    expect(totalsOf(lines, { included: false, rateBasisPoints: 2_100 })).toEqual({
      ...{ ...sums, taxMinor: 420, totalMinor: 2_420 },
    });
    expect(totalsOf(lines, { included: true, rateBasisPoints: 2_500 })).toEqual({
      ...{ ...sums, taxMinor: 400, totalMinor: 2_000 },
    });
    expect(totalsOf([], { included: false, rateBasisPoints: 2_100 })).toEqual({
      ...{ subtotalMinor: 0, discountMinor: 0, taxMinor: 0, totalMinor: 0 },
    });
  });

  it('are refused where a cent of them would be lost', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const line = { priceMinor: most, setupFeeMinor: 0, discountMinor: 0 };
    const untaxed = { included: false, rateBasisPoints: 0 };
    const tooLarge = expect.objectContaining({ code: 'amount_too_large' });
    expect(totalsOf([line], untaxed).totalMinor).toBe(most);
    expect(() => totalsOf([line, { ...line, priceMinor: 1 }], untaxed)).toThrow(tooLarge);
    expect(() => totalsOf([{ ...line, setupFeeMinor: 1 }], untaxed)).toThrow(tooLarge);
    // Each by itself, also where they would be one in the end.
    expect(() => totalsOf([{ ...line, priceMinor: most + 1, setupFeeMinor: -1 }], untaxed)).toThrow(tooLarge);
    expect(() => totalsOf([line], { ...untaxed, rateBasisPoints: 1_000 })).toThrow(tooLarge);
  });
});
