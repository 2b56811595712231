import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(() => paid.stop({ audited: true }));

/** Somebody with an invoice for a product of that price. */
async function someone(minor: number, currency: string) {
  const id = await newHosting(paid.product, minor, { currency });
  const who = await newCustomer(paid.product);
  const cart = { products: [{ id, cycle: 'monthly', type: 'Hosting' }] };
  const invoiceId = (await who.post('/cart/checkout/invoice', cart)).body.data.invoice_id as number;
  const read = async () => (await who.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
  return { who, invoiceId, read };
}

const charged = () => paid.stripe.account.objects.every('charge').at(-1);

async function ledger(kind: string, currency: string): Promise<number> {
  const [row] = await sql<{ minor: number }>(
    paid.product,
    `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = $1 and a.currency = $2`,
    ...[kind, currency],
  );
  return Number(row?.minor);
}

describe('money by the provider', () => {
  // A yen has no parts; a dinar has a thousand, which Stripe counts in tens; Stripe counts a króna in hundredths.
  it.each([
    ['JPY', 980, '980', 980, '500', 500],
    ['KWD', 5_490, '5.490', 5_490, '1.230', 1_230],
    ['ISK', 1_250, '1250', 125_000, '250', 25_000],
    ['EUR', 995, '9.95', 995, '1.01', 101],
  ])(
    'in %s is the same amount there, here and on its way back',
    async (currency, minor, total, there, part, back) => {
      const { who, invoiceId, read } = await someone(minor, currency);
      expect(await read()).toMatchObject({ total, currency });
      const { body } = await who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
      expect(body.data.charge).toMatchObject({ amount: total, currency });
      await paid.click(body.data.redirect_url);
      await until(read, ({ status }) => status === 'paid');
      await settled(paid.product);
      expect(charged()).toMatchObject({ amount: there, currency: currency.toLowerCase() });
      const refund = { method: 'original', reason: 'test', amount: part };
      expect((await paid.product.staff.post(`/staff/invoices/${invoiceId}/refund`, refund)).status).toBe(200);
      await settled(paid.product);
      expect(charged()?.amount_refunded).toBe(back);
      expect(await read()).toMatchObject({ refunded: part, status: 'partially_refunded' });
      // To the last unit what the provider has is what the books say it has.
      const factor = there / minor;
      expect(await ledger('provider', currency)).toBe(
        Math.round(paid.stripe.account.balance(currency.toLowerCase()) / factor),
      );
    },
  );

  it('of an amount that the provider cannot take says so, and nothing changes', async () => {
    // Its last digit is none of Stripe's; what is too little is told before (least.test.ts).
    for (const [minor, currency] of [[1_234_5, 'KWD']] as const) {
      const { who, invoiceId, read } = await someone(minor, currency);
      const { body } = await who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
      await settled(paid.product);
      const before = await contents(paid.product);
      const path = new URL(body.data.redirect_url).pathname.replace('/api', '');
      const answer = await paid.product.nobody.get(path);
      expect([answer.status, answer.body.code], currency).toEqual([409, 'payment_not_possible']);
      const { provider_customers: _, ...after } = await contents(paid.product);
      const { provider_customers: __, ...same } = before;
      expect(after).toEqual(same);
      expect((await read()).status).toBe('unpaid');
    }
  });

  it('in another currency than its charge is not booked for it, and a person hears of it', async () => {
    const { who, invoiceId, read } = await someone(1_000, 'EUR');
    const { body } = await who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
    const { account } = paid.stripe;
    const customer = account.makeCustomer({}).id;
    const method = account.attach('pm_card_visa', customer).id;
    const metadata = { innkeeper_charge: String(body.data.charge.id) };
    const fields = { amount: 1_000, currency: 'usd', customer, description: null, payment_method: method };
    const intent = account.makeIntent({ ...fields, metadata });
    account.confirm(intent.id, { offSession: true, authenticates: false });
    await until(
      async () => (await paid.product.staff.get('/staff/jobs')).body.data.jobs,
      (jobs) => JSON.stringify(jobs).includes('is in USD'),
      120_000,
    );
    expect((await read()).status).toBe('unpaid');
    expect(await ledger('provider', 'USD')).toBe(0);
  });
});
