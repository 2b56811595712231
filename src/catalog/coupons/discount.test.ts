import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import '../errors.ts';
import { type CouponLine, type Discount, discountOf, discountOfRenewal } from './discount.ts';

describe('what a coupon takes off', () => {
  const line = fc.record({
    productId: fc.constantFrom(1, 2),
    cycle: fc.constantFrom('monthly', 'annually'),
    amountMinor: fc.nat(10 ** 9),
  }) as fc.Arbitrary<CouponLine>;
  const lines = fc.array(line, { minLength: 1, maxLength: 8 });
  const terms = fc.record({
    productIds: fc.constantFrom(null, [1]),
    cycles: fc.constantFrom(null, ['annually'] as const),
    recurring: fc.boolean(),
  });
  const discount = fc.oneof(
    fc.record({
      percent: fc.integer({ min: 1, max: 100 }),
      amountMinor: fc.constant(null),
      currency: fc.constant(null),
    }),
    fc.record({
      percent: fc.constant(null),
      amountMinor: fc.integer({ min: 1, max: 10 ** 9 }),
      currency: fc.constant('EUR'),
    }),
  );
  const coupon = fc.tuple(terms, discount).map(([term, off]) => ({ ...term, ...off }) as Discount);
  const covers = (of: Discount, { productId, cycle }: CouponLine) =>
    (of.productIds === null || productId === 1) && (of.cycles === null || cycle === 'annually');

  const refused = expect.objectContaining({ code: 'invalid_coupon' });

  it('is never below zero nor above a line, nothing of what it does not cover, and in all what it says', () => {
    fc.assert(
      fc.property(coupon, lines, (of, drawn) => {
        const covered = drawn
          .filter((each) => covers(of, each))
          .reduce((sum, each) => sum + each.amountMinor, 0);
        const exact =
          of.percent === null ? Math.min(of.amountMinor ?? 0, covered) : (covered * of.percent) / 100;
        if (Math.round(exact) === 0) {
          expect(() => discountOf(of, 'EUR', drawn)).toThrow(refused);
          return;
        }
        const off = discountOf(of, 'EUR', drawn);
        for (const [at, minor] of off.entries()) {
          const each = drawn[at] as CouponLine;
          expect(minor).toBeGreaterThanOrEqual(0);
          expect(minor).toBeLessThanOrEqual(covers(of, each) ? each.amountMinor : 0);
        }
        const sum = off.reduce((total, minor) => total + minor, 0);
        expect(Math.abs(sum - exact)).toBeLessThanOrEqual(0.5);
      }),
    );
  });

  it('is nothing in another currency', () => {
    const of = { ...fc.sample(coupon, 1)[0], percent: null, amountMinor: 100, currency: 'EUR' } as Discount;
    expect(() => discountOf(of, 'USD', [{ productId: 1, cycle: 'annually', amountMinor: 500 }])).toThrow(
      refused,
    );
  });

  it('a renewal, is nothing unless it is recurring, and never more than the service had of it in its order', () => {
    fc.assert(
      fc.property(
        coupon,
        line,
        fc.nat(10 ** 9),
        fc.nat(10 ** 9),
        fc.constantFrom('EUR', 'USD'),
        (of, drawn, first, more, currency) => {
          const before = { firstDiscountMinor: first, firstPriceMinor: first + more };
          const off = discountOfRenewal(of, { ...drawn, currency, ...before });
          const counts = of.recurring && covers(of, drawn) && (of.percent !== null || currency === 'EUR');
          if (!counts) expect(off).toBe(0);
          else if (of.percent === null) {
            expect(off).toBeLessThanOrEqual(first);
            // Never a greater part of the price than it was.
            expect(BigInt(off) * BigInt(first + more)).toBeLessThanOrEqual(
              BigInt(drawn.amountMinor) * BigInt(first),
            );
          } else expect(Math.abs(off - (drawn.amountMinor * of.percent) / 100)).toBeLessThanOrEqual(0.5);
        },
      ),
    );
  });

  it('is said in round sums', () => {
    const off = { currency: null, productIds: null, cycles: null, recurring: true };
    const tenth: Discount = { ...off, percent: 10, amountMinor: null };
    const five: Discount = { ...off, percent: null, amountMinor: 500, currency: 'EUR' };
    const of = (amountMinor: number): CouponLine => ({ productId: 1, cycle: 'monthly', amountMinor });
    expect(discountOf(tenth, 'EUR', [of(1_000), of(500)])).toEqual([100, 50]);
    expect(discountOf(five, 'EUR', [of(300), of(100)])).toEqual([300, 100]);
    expect(discountOf(five, 'EUR', [of(1_500), of(500)])).toEqual([375, 125]);
    expect(discountOf({ ...tenth, productIds: [2] }, 'EUR', [of(100), { ...of(100), productId: 2 }])).toEqual(
      [0, 10],
    );
    const renewed = { ...of(400), currency: 'EUR', firstDiscountMinor: 125, firstPriceMinor: 400 };
    expect(discountOfRenewal(tenth, renewed)).toBe(40);
    expect(discountOfRenewal(five, renewed)).toBe(125);
    expect(discountOfRenewal(five, { ...renewed, amountMinor: 800 })).toBe(125);
    // A month after a year.
    expect(discountOfRenewal(five, { ...renewed, amountMinor: 90 })).toBe(28);
    expect(discountOfRenewal(five, { ...renewed, currency: 'USD' })).toBe(0);
    expect(discountOfRenewal({ ...tenth, recurring: false }, renewed)).toBe(0);
    expect(discountOfRenewal({ ...tenth, cycles: ['annually'] }, renewed)).toBe(0);
  });

  it('is refused with words where it is nothing', () => {
    const none: Discount = {
      ...{ percent: 10, amountMinor: null, currency: null },
      ...{ productIds: [2], cycles: null, recurring: false },
    };
    expect(() => discountOf(none, 'EUR', [{ productId: 1, cycle: 'monthly', amountMinor: 500 }])).toThrow(
      expect.objectContaining({
        code: 'invalid_coupon',
        details: [{ field: 'couponcode', message: 'takes nothing off what is in the cart' }],
      }),
    );
  });
});
