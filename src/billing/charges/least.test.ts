import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { leastMinorOf } from '../../drivers/payments/index.ts';
import { transaction } from '../../platform/index.ts';
import { chargeSaved } from '../index.ts';
import { creditPartOf } from './least.ts';

describe('what credit pays of an invoice', () => {
  const currencies = ['EUR', 'GBP', 'HUF', 'CZK', 'JPY', 'KWD', 'ISK', 'ZAR'];
  const asked = fc.record({
    currency: fc.constantFrom(...currencies),
    provider: fc.constantFrom('stripe' as const, 'none' as const),
    creditMinor: fc.oneof(fc.nat(300), fc.nat(40_000), fc.nat()),
    dueMinor: fc.oneof(fc.nat(300), fc.nat(40_000), fc.nat()),
  });

  it('leaves the method nothing or what it takes at least, and is never more than there is', () => {
    fc.assert(
      fc.property(asked, ({ currency, provider, creditMinor, dueMinor }) => {
        const leastMinor = leastMinorOf(provider, currency);
        const partMinor = creditPartOf(creditMinor, dueMinor, { currency, leastMinor });
        const leftMinor = dueMinor - partMinor;
        expect(Number.isInteger(partMinor) && partMinor >= 0).toBe(true);
        expect(partMinor).toBeLessThanOrEqual(creditMinor);
        expect(leftMinor).toBeGreaterThanOrEqual(0);
        // Of what is too little as a whole nothing is paid from credit that does not cover it: it would help nobody.
        if (leftMinor > 0 && leftMinor < leastMinor)
          expect([partMinor, dueMinor < leastMinor]).toEqual([0, true]);
        if (creditMinor >= dueMinor) expect(leftMinor).toBe(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is as much as it can: one step more would leave too little, or is not there', () => {
    fc.assert(
      fc.property(asked, ({ currency, creditMinor, dueMinor }) => {
        const leastMinor = leastMinorOf('stripe', currency);
        fc.pre(leastMinor > 1);
        const partMinor = creditPartOf(creditMinor, dueMinor, { currency, leastMinor });
        fc.pre(partMinor < dueMinor);
        expect(partMinor + 1 > creditMinor || dueMinor - partMinor - 1 < leastMinor).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('too little for the payment provider', () => {
  let paid: PaidProduct;
  beforeAll(async () => {
    paid = await startPaidProduct();
    const company = { iban: 'NL91ABNA0417164300' };
    expect((await paid.product.staff.patch('/staff/settings', { company })).status).toBe(200);
  });
  afterAll(() => paid.stop({ audited: true }));

  async function someone(minor: number, currency: string, creditMinor = 0) {
    const id = await newHosting(paid.product, minor, { currency });
    const who = await newCustomer(paid.product, { creditMinor });
    const cart = { products: [{ id, cycle: 'monthly', type: 'Hosting' }] };
    const invoiceId = (await who.post('/cart/checkout/invoice', cart)).body.data.invoice_id as number;
    const read = async () => (await who.get(`/dashboard/invoices/${invoiceId}`)).body.data;
    const pay = (body: object) => who.post(`/dashboard/invoices/${invoiceId}/pay`, body);
    return { who, invoiceId, read, pay };
  }

  it.each([
    ['EUR', 30, '0.30 EUR', '0.50 EUR'],
    ['HUF', 17_499, '174.99 HUF', '175.00 HUF'],
    ['JPY', 49, '49 JPY', '50 JPY'],
  ])('is said so in %s, and every other way stays', async (currency, minor, asked, least) => {
    const { read, pay } = await someone(minor, currency);
    const words = `${asked} is less than can be paid by card, which is ${least} at least; pay from account credit or by transfer`;
    expect((await read()).payment_ways).toMatchObject([
      { method: 'credit', code: 'insufficient_credit' },
      { method: 'card', allowed: false, code: 'payment_too_small', reason: words },
      { method: 'bank_transfer', allowed: true },
    ]);
    for (const body of [{ method: 'card' }, { method: 'stripe' }]) {
      const { status, body: answer } = await pay(body);
      expect([status, answer.code, answer.message]).toEqual([409, 'payment_too_small', words]);
    }
  });

  it('is not so for the least itself, which is taken', async () => {
    for (const [currency, minor] of [
      ['EUR', 50],
      ['HUF', 17_500],
    ] as const) {
      const { pay, read } = await someone(minor, currency);
      const { body } = await pay({ method: 'card' });
      await paid.click(body.data.redirect_url);
      await until(read, ({ invoice }) => invoice.status === 'paid');
    }
  });

  it('is never left to a method by a customer who spends credit too', async () => {
    const { who, invoiceId, pay, read } = await someone(300, 'EUR', 290);
    const methodId = await paid.saveMethod(who);
    const { body } = await pay({ method: 'card', payment_method_id: methodId, use_credit: true });
    expect(body.data.charge).toMatchObject({ amount: '0.50' });
    await settled(paid.product);
    expect((await read()).invoice).toMatchObject({ id: invoiceId, status: 'paid', paid_with_credit: '2.50' });
    expect((await who.get('/dashboard/invoices')).body.data.credit_balance).toBe('0.40');
  });

  it('is not charged to a saved method either, and the customer is told why', async () => {
    const { who, invoiceId, read } = await someone(30, 'EUR');
    await paid.saveMethod(who);
    await transaction(paid.product.ctx, 'test.charge', (tx) => chargeSaved(tx, invoiceId));
    await settled(paid.product);
    expect((await read()).invoice.status).toBe('unpaid');
    const mails = await sql<{ body: string }>(
      paid.product,
      'select body from mails where subject = $1',
      `Your payment for invoice ${invoiceId} was declined`,
    );
    expect(mails).toHaveLength(1);
    expect(mails[0]?.body.replaceAll(/\s+/g, ' ')).toContain('0.30 EUR is less than can be paid by card');
    expect(paid.stripe.account.objects.every('payment_intent').some(({ amount }) => amount === 30)).toBe(
      false,
    );
  });
});
