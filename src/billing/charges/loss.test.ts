import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossOf } from './loss.ts';

const minor = fc.nat(100_000);
const charge = fc
  .record({ amount_minor: minor, credited: minor, returned: minor })
  .map(({ amount_minor, credited, returned }) => ({
    ...{ amount_minor, credited_minor: credited % (amount_minor + 1) },
    returned_minor: returned % (amount_minor + 1),
  }));
const invoice = fc.record({
  kind: fc.constantFrom('order', 'renewal', 'top_up'),
  status: fc.constantFrom('unpaid', 'paid', 'partially_refunded', 'refunded', 'cancelled'),
  total_minor: fc.integer({ min: 50_000, max: 100_000 }),
  refunded_minor: fc.nat(50_000),
  paid_minor: fc.nat(50_000),
} as const);

describe('money of a charge that is gone', () => {
  it('is borne to the cent, and nobody bears more than there is of theirs', () => {
    fc.assert(
      fc.property(minor, charge, invoice, minor, (amount, of, on, held) => {
        const { ofInvoiceMinor, partMinor, ofCreditMinor, oursMinor } = lossOf(amount, of, on, held);
        expect(ofInvoiceMinor + partMinor + ofCreditMinor + oursMinor).toBe(amount);
        for (const part of [ofInvoiceMinor, partMinor, ofCreditMinor, oursMinor])
          expect(part).toBeGreaterThanOrEqual(0);
        const brought = Math.max(0, of.amount_minor - of.credited_minor - of.returned_minor);
        expect(ofInvoiceMinor + partMinor).toBeLessThanOrEqual(brought);
        expect(ofInvoiceMinor).toBeLessThanOrEqual(on.total_minor - on.refunded_minor);
        expect(partMinor).toBeLessThanOrEqual(on.paid_minor);
        // What buys credit is refunded out of that very credit.
        expect(ofCreditMinor + (on.kind === 'top_up' ? ofInvoiceMinor : 0)).toBeLessThanOrEqual(held);
        // It is ours only once there is nothing left of theirs.
        if (oursMinor > 0 && on.kind !== 'top_up') expect(ofCreditMinor).toBe(held);
      }),
    );
  });

  const of = { amount_minor: 600, credited_minor: 0, returned_minor: 0 };
  const on = { kind: 'order', status: 'paid', total_minor: 600, refunded_minor: 0, paid_minor: 600 } as const;
  it.each([
    ['paid', of, on, 0, [600, 0, 0, 0]],
    [
      'given back in part',
      of,
      { ...on, status: 'partially_refunded', refunded_minor: 200 },
      300,
      [400, 0, 200, 0],
    ],
    ['given back', of, { ...on, status: 'refunded', refunded_minor: 600 }, 100, [0, 0, 100, 500]],
    ['cancelled', of, { ...on, status: 'cancelled' }, 1_000, [0, 0, 600, 0]],
    ['open', of, { ...on, status: 'unpaid', total_minor: 900 }, 1_000, [0, 600, 0, 0]],
    [
      'open, and less is left of it',
      of,
      { ...on, status: 'unpaid', paid_minor: 250 },
      100,
      [0, 250, 100, 250],
    ],
    ['paid, by a part of the charge', { ...of, credited_minor: 150 }, on, 1_000, [450, 0, 150, 0]],
    ['paid, by what went back', { ...of, returned_minor: 600 }, on, 1_000, [0, 0, 600, 0]],
    ['for credit', of, { ...on, kind: 'top_up' }, 1_000, [600, 0, 0, 0]],
    ['for credit that is spent', of, { ...on, kind: 'top_up' }, 200, [200, 0, 0, 400]],
    [
      'for credit that came otherwise',
      { ...of, credited_minor: 500 },
      { ...on, kind: 'top_up' },
      250,
      [100, 0, 150, 350],
    ],
  ] as const)('of an invoice that is %s', (_, charged, invoiced, held, [ofInvoice, part, ofCredit, ours]) => {
    expect(lossOf(600, charged, invoiced, held)).toEqual({
      ...{ ofInvoiceMinor: ofInvoice, partMinor: part, ofCreditMinor: ofCredit, oursMinor: ours },
    });
  });
});
