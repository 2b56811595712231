import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { taxWithin } from './taxWithin.ts';

const invoice = fc
  .record({ total_minor: fc.nat(10 ** 9), part: fc.nat(100) })
  .map(({ total_minor, part }) => ({
    ...{ total_minor, tax_minor: Math.floor((total_minor * part) / 100), tax_corrected_minor: 0 },
  }));

describe('the tax in what goes back of an invoice', () => {
  it('adds up to its tax, however many parts it goes back in, each to half a cent', () => {
    fc.assert(
      fc.property(invoice, fc.array(fc.nat(10 ** 9), { maxLength: 10 }), (of, drawn) => {
        const ends = [...drawn.map((minor) => minor % (of.total_minor + 1)), of.total_minor].toSorted(
          (one, other) => one - other,
        );
        let before = 0;
        for (const end of ends) {
          const within = taxWithin(of, end);
          expect(within).toBeGreaterThanOrEqual(before);
          if (of.total_minor > 0) {
            // Half up: twice the distance from the exact share, in whole parts of the total.
            const total = BigInt(of.total_minor);
            const off = 2n * (BigInt(within) * total - BigInt(of.tax_minor) * BigInt(end));
            expect(off > -total && off <= total).toBe(true);
          }
          before = within;
        }
        expect(before).toBe(of.tax_minor);
        expect(taxWithin(of, 0)).toBe(0);
      }),
    );
  });

  it('is none of a free one, and none once the tax itself went back', () => {
    expect(taxWithin({ total_minor: 0, tax_minor: 0, tax_corrected_minor: 0 }, 0)).toBe(0);
    const of = { total_minor: 121, tax_minor: 21, tax_corrected_minor: 0 };
    expect(taxWithin(of, 60)).toBe(10);
    expect(taxWithin({ ...of, tax_corrected_minor: 1 }, 60)).toBe(0);
  });
});
