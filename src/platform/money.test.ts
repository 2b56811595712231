import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocate, currencyDigits, formatMoney, parseMoney, shareOf, shareWithin } from './money.ts';

const currency = fc.constantFrom('EUR', 'JPY', 'KWD');
const amount = fc.integer({ min: 0, max: 10 ** 11 });

describe('an amount', () => {
  it('is the same after it was written and read', () => {
    fc.assert(fc.property(amount, currency, (minor, c) => parseMoney(formatMoney(minor, c), c) === minor));
  });

  it('has the digits of its currency', () => {
    expect(['EUR', 'JPY', 'KWD'].map(currencyDigits)).toEqual([2, 0, 3]);
    expect(['EUR', 'JPY', 'KWD'].map((c) => formatMoney(5, c))).toEqual(['0.05', '5', '0.005']);
    expect(formatMoney(-1_250, 'EUR')).toBe('-12.50');
    // Of those that nobody asked for yet as well.
    expect(['CHF', 'KRW', 'BHD', 'CLF'].map(currencyDigits)).toEqual([2, 0, 3, 4]);
  });

  // ISO 4217, and what payment providers count in; tables made for showing prices leave digits out that nobody pays in.
  it.each([
    ...['AFN', 'ALL', 'COP', 'HUF', 'IDR', 'IRR', 'KPW', 'LAK', 'LBP'],
    ...['MGA', 'MMK', 'PKR', 'SOS', 'SYP', 'TWD', 'YER'],
  ])('of %s has two digits, also where its small coins are gone', (code) => {
    expect(currencyDigits(code)).toBe(2);
    expect(parseMoney('1990.50', code)).toBe(199_050);
    expect(formatMoney(199_050, code)).toBe('1990.50');
  });

  it('of which a cent would be lost is none', () => {
    expect([parseMoney('999999999999.9999', 'CLF'), parseMoney('99999999999.9999', 'CLF')]).toEqual([
      null,
      999_999_999_999_999,
    ]);
  });

  it.each(['', '.5', '5.', '1,50', '1.234', '-1.00', '+1', '1e3', ' 1', '1\n', '0x10', '١', '1234567890123'])(
    'is not %j',
    (text) => {
      expect(parseMoney(text, 'EUR')).toBeNull();
    },
  );

  it('may leave its last digits out', () => {
    expect(['3', '3.0', '3.00', '007'].map((text) => parseMoney(text, 'EUR'))).toEqual([300, 300, 300, 700]);
  });
});

describe('a share', () => {
  it('is rounded half up to the minor unit', () => {
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 10_000 }), (minor, basisPoints) => {
        // Twice the exact share and the result, as whole ten-thousandths.
        const distance = BigInt(shareOf(minor, basisPoints)) * 10_000n - BigInt(minor) * BigInt(basisPoints);
        return distance > -5_000n && distance <= 5_000n;
      }),
    );
    expect([shareOf(1, 5_000), shareOf(1, 4_999), shareOf(300, 2_100)]).toEqual([1, 0, 63]);
  });
});

describe('a share within', () => {
  const rate = fc.integer({ min: 0, max: 10_000 });

  it('is rounded half up to the minor unit', () => {
    fc.assert(
      fc.property(amount, rate, (minor, basisPoints) => {
        const whole = 10_000n + BigInt(basisPoints);
        const distance =
          2n * (BigInt(shareWithin(minor, basisPoints)) * whole - BigInt(minor) * BigInt(basisPoints));
        return distance > -whole && distance <= whole;
      }),
    );
    expect([shareWithin(12_100, 2_100), shareWithin(3, 10_000), shareWithin(1, 9_999)]).toEqual([
      2_100, 2, 0,
    ]);
  });

  it('of an amount with its share on top is that share, to the unit', () => {
    fc.assert(
      fc.property(amount, rate, (minor, basisPoints) => {
        const added = shareOf(minor, basisPoints);
        return Math.abs(shareWithin(minor + added, basisPoints) - added) <= 1;
      }),
    );
  });

  it('leaves nothing below zero, and nothing is inside of nothing', () => {
    fc.assert(fc.property(amount, rate, (minor, points) => shareWithin(minor, points) <= minor));
    expect([shareWithin(0, 2_100), shareWithin(500, 0)]).toEqual([0, 0]);
  });
});

describe('an allocation', () => {
  const weights = fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 12 });

  it('adds up, gives nothing to weight 0, and is off by less than one unit each', () => {
    fc.assert(
      fc.property(amount, weights, (total, list) => {
        const sum = list.reduce((a, b) => a + b, 0);
        fc.pre(sum > 0);
        const parts = allocate(total, list);
        expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
        for (const [at, part] of parts.entries()) {
          const difference = BigInt(part) * BigInt(sum) - BigInt(total) * BigInt(list[at] ?? 0);
          expect(difference < BigInt(sum) && difference > -BigInt(sum)).toBe(true);
          if (list[at] === 0) expect(part).toBe(0);
        }
      }),
    );
  });

  it('prefers the largest remainders, then the earlier ones', () => {
    expect(allocate(100, [1, 1, 1])).toEqual([34, 33, 33]);
    expect(allocate(5, [10, 10, 80])).toEqual([1, 0, 4]);
    expect(allocate(2, [1, 2, 3])).toEqual([0, 1, 1]);
    expect(allocate(5, [0, 0])).toEqual([0, 0]);
  });
});
