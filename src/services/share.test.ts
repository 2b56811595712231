import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PaidInvoice } from '../billing/index.ts';
import { type Rule, shareOf } from './share.ts';

const addDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const day = fc.integer({ min: 0, max: 20_000 }).map((days) => addDays('2000-01-01', days));
const money = fc.integer({ min: 0, max: 10_000_000 });

/** An invoice with lines of this service, and maybe of others. */
const paid: fc.Arbitrary<PaidInvoice> = fc
  .record({
    price: money,
    setup: money,
    off: fc.nat(100),
    others: money,
    tax: fc.nat(3_000),
    refunded: fc.nat(100),
    disputed: fc.nat(100),
  })
  .map(({ price, setup, off, others, tax, refunded, disputed }) => {
    const discountMinor = Math.floor(((price + setup) * off) / 100);
    const netMinor = price + setup - discountMinor + others;
    const totalMinor = netMinor + Math.round((netMinor * tax) / 10_000);
    return {
      ...{
        isGivenUp: false,
        id: 1,
        organizationId: 3,
        priceMinor: price,
        setupFeeMinor: setup,
        discountMinor,
        netMinor,
        totalMinor,
      },
      refundedMinor: Math.floor((totalMinor * refunded) / 100),
      disputedMinor: Math.floor((totalMinor * disputed) / 100),
    };
  });
const period = fc
  .record({ startsOn: day, days: fc.integer({ min: 0, max: 1_096 }) })
  .map(({ startsOn, days }) => ({ invoiceId: 1, startsOn, endsOn: addDays(startsOn, days) }));
const rules: fc.Arbitrary<Rule> = fc.constantFrom('full', 'unused', 'none');
const amount = (
  invoice: PaidInvoice,
  time: typeof period extends fc.Arbitrary<infer T> ? T : never,
  rule: Rule,
  on: string,
) => shareOf(invoice, time, rule, on).amountMinor;

describe('what goes back of an invoice', () => {
  it('is never negative, and never more than is left of it or than the service cost with its tax', () => {
    fc.assert(
      fc.property(paid, period, rules, day, (invoice, time, rule, today) => {
        const back = amount(invoice, time, rule, today);
        expect(Number.isSafeInteger(back)).toBe(true);
        expect(back).toBeGreaterThanOrEqual(0);
        const { totalMinor, refundedMinor, disputedMinor } = invoice;
        expect(back).toBeLessThanOrEqual(Math.max(0, totalMinor - refundedMinor - disputedMinor));
        const own = invoice.priceMinor + invoice.setupFeeMinor - invoice.discountMinor;
        const most =
          invoice.netMinor === 0 ? 0 : (BigInt(invoice.totalMinor) * BigInt(own)) / BigInt(invoice.netMinor);
        expect(back).toBeLessThanOrEqual(Number(most));
        expect(back).toBeLessThanOrEqual(amount(invoice, time, 'full', today));
      }),
    );
  });

  it('is all of it when it was for this service alone and all goes back', () => {
    fc.assert(
      fc.property(paid, period, day, (invoice, time, today) => {
        const alone = {
          ...invoice,
          netMinor: invoice.priceMinor + invoice.setupFeeMinor - invoice.discountMinor,
        };
        const whole = { ...alone, totalMinor: alone.netMinor, refundedMinor: 0, disputedMinor: 0 };
        expect(amount(whole, time, 'full', today)).toBe(whole.totalMinor);
        expect(amount(whole, time, 'none', today)).toBe(0);
      }),
    );
  });

  it('only falls as time passes: nothing of a day that has begun, nothing at the end', () => {
    fc.assert(
      fc.property(paid, period, (invoice, time) => {
        let before = amount(invoice, time, 'unused', addDays(time.startsOn, -1));
        for (let today = time.startsOn; today <= time.endsOn; today = addDays(today, 13)) {
          const now = amount(invoice, time, 'unused', today);
          expect(now).toBeLessThanOrEqual(before);
          before = now;
        }
        expect(amount(invoice, time, 'unused', addDays(time.endsOn, -1))).toBe(0);
        expect(amount(invoice, time, 'unused', time.endsOn)).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('for two invoices of the two halves of a time is never more than for one of the whole', () => {
    fc.assert(
      fc.property(money, period, fc.nat(), day, (price, time, at, today) => {
        const days = (Date.parse(time.endsOn) - Date.parse(time.startsOn)) / 86_400_000;
        fc.pre(days > 0);
        const middle = addDays(time.startsOn, at % days);
        const invoice = (minor: number): PaidInvoice => ({
          ...{
            isGivenUp: false,
            id: 1,
            organizationId: 3,
            priceMinor: minor,
            setupFeeMinor: 0,
            discountMinor: 0,
            netMinor: minor,
            totalMinor: minor,
          },
          refundedMinor: 0,
          disputedMinor: 0,
        });
        // Each half costs its days of the price, rounded down as every prorated charge is.
        const first = Math.floor((price * (at % days)) / days);
        const halves =
          amount(invoice(first), { ...time, endsOn: middle }, 'unused', today) +
          amount(invoice(price - first), { ...time, startsOn: middle }, 'unused', today);
        expect(halves).toBeLessThanOrEqual(amount(invoice(price), time, 'unused', today) + 2);
      }),
    );
  });

  /** Thirty days of a service beside another one: 12.00 and 3.00 to set it up, 20 % off, and tax. */
  const one: PaidInvoice = {
    ...{
      isGivenUp: false,
      id: 7,
      organizationId: 3,
      priceMinor: 1_200,
      setupFeeMinor: 300,
      discountMinor: 300,
    },
    ...{ netMinor: 2_400, totalMinor: 2_880, refundedMinor: 0, disputedMinor: 0 },
  };
  const april = { invoiceId: 7, startsOn: '2027-04-01', endsOn: '2027-05-01' };

  it.each([
    // Half of the invoice was for it.
    ['full', '2027-04-20', april, one, 1_440],
    ['full', '2027-04-20', undefined, one, 1_440],
    ['none', '2027-04-01', april, one, 0],
    // Of the price, 9.60 without the setup's part of what was off: so many thirtieths, with its tax.
    ['unused', '2027-03-31', april, one, 1_152],
    ['unused', '2027-03-01', april, one, 1_152],
    ['unused', '2027-04-01', april, one, 1_113],
    ['unused', '2027-04-10', april, one, 768],
    ['unused', '2027-04-30', april, one, 0],
    ['unused', '2027-06-30', april, one, 0],
    ['unused', '2027-04-10', undefined, one, 0],
    ['unused', '2027-04-10', { ...april, endsOn: april.startsOn }, one, 0],
    ['unused', '2027-03-10', { ...april, endsOn: '2027-03-20' }, one, 0],
    ['unused', '2027-04-10', april, { ...one, priceMinor: 0, setupFeeMinor: 0, discountMinor: 0 }, 0],
    ['unused', '2027-04-10', april, { ...one, priceMinor: 0, discountMinor: 0 }, 0],
    // What of its price went back with days that are no part of it any more is gone: 9.60 less 2.40, and less all of it.
    ['unused', '2027-04-10', { ...april, netReturnedMinor: 240 }, one, 576],
    ['unused', '2027-03-31', { ...april, netReturnedMinor: 960 }, one, 0],
    ['unused', '2027-03-31', { ...april, netReturnedMinor: 1_200 }, one, 0],
    // What went back before does not go back again.
    ['full', '2027-04-10', april, { ...one, refundedMinor: 2_000 }, 880],
    ['full', '2027-04-10', april, { ...one, netMinor: 0, totalMinor: 0 }, 0],
  ] as const)('of %s on %s in %j is so much', (rule, today, time, invoice, expected) => {
    expect(shareOf(invoice, time, rule, today)).toEqual({
      invoiceId: 7,
      organizationId: 3,
      amountMinor: expected,
    });
  });
});
