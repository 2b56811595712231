import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Payable } from '../invoices/payable.ts';
import { overOldest, restOf } from './parts.ts';

const minor = fc.integer({ min: 0, max: 100_000 });
const unpaid = fc.uniqueArray(fc.record({ position: fc.nat(100), total: minor, paid: minor }), {
  selector: ({ position }) => position,
  maxLength: 8,
});
const payable = ({ position, total, paid }: { position: number; total: number; paid: number }) =>
  ({
    id: position,
    position,
    status: 'unpaid',
    total_minor: total,
    paid_minor: Math.min(total, paid),
  }) as Payable;

describe('money that is split over open invoices', () => {
  it('pays the oldest in full first, none more than is due, and the rest is left', () => {
    fc.assert(
      fc.property(unpaid, minor, (drawn, amountMinor) => {
        const invoices = drawn.map(payable);
        const parts = overOldest(invoices, amountMinor);
        const due = ({ total_minor, paid_minor }: Payable) => total_minor - paid_minor;
        const dueMinor = invoices.reduce((sum, invoice) => sum + due(invoice), 0);
        expect(restOf(amountMinor, parts)).toBe(Math.max(0, amountMinor - dueMinor));
        for (const [at, part] of parts.entries()) {
          expect(part.amountMinor).toBeGreaterThan(0);
          const isLast = at === parts.length - 1;
          if (isLast) expect(part.amountMinor).toBeLessThanOrEqual(due(part.invoice));
          else expect(part.amountMinor).toBe(due(part.invoice));
          const next = parts[at + 1]?.invoice.position ?? Number.POSITIVE_INFINITY;
          expect(part.invoice.position).toBeLessThan(next);
        }
      }),
    );
  });

  it('leaves invoices alone that it does not reach', () => {
    const of = (position: number) => payable({ position, total: 300, paid: 100 });
    expect(overOldest([of(2), of(1), of(3)], 350)).toEqual([
      { invoice: of(1), amountMinor: 200 },
      { invoice: of(2), amountMinor: 150 },
    ]);
    expect(overOldest([of(1)], 0)).toEqual([]);
  });
});
