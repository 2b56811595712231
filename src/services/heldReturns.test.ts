import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../test/crash/audit.ts';
import { payByCredit } from '../../test/invoices.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { newHosting } from '../../test/products.ts';
import { settled, sql } from '../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../test/stripe/product.ts';

// Web hosting 3.00 a month, "Large" 9.00.
let paid: PaidProduct;
let large: number;
beforeAll(async () => {
  paid = await startPaidProduct();
  large = await newHosting(paid.product, 900, { name: 'Large' });
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  await paid.stop();
});

const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const credit = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
const service = async (who: Person, id: number) =>
  (await who.get(`/dashboard/services/${id}`)).body.data.service;

async function refund(id: number): Promise<void> {
  const answer = await paid.product.staff.post(`/staff/invoices/${id}/refund`, {
    method: 'credit',
    reason: 'A',
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(paid.product);
}

/** A service with a period renewed ahead, and an upgrade over both that a card paid and its bank disputes. */
async function disputed() {
  paid.product.clock.set(new Date('2027-04-01T09:30:00Z'));
  const who = await newCustomer(paid.product, { creditMinor: 10_000 });
  const item = { id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await who.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(who, data.invoice_id);
  await settled(paid.product);
  const [id] = data.service_ids;
  await paid.product.staff.post(`/staff/services/${id}/deliver`, {});
  await settled(paid.product);
  const renewal = (await who.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })).body.data
    .invoice_id;
  await payByCredit(who, renewal);
  await settled(paid.product);
  paid.product.clock.set(new Date('2027-04-16T09:30:00Z'));
  const { invoice_id: change } = (await who.post(`/dashboard/services/${id}/upgrade`, { product_id: large }))
    .body.data;
  const { body } = await who.post(`/dashboard/invoices/${change}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  const { payments, total } = await until(
    () => invoiceOf(who, change),
    ({ status }) => status === 'paid',
  );
  expect(total).toBe('9.00');
  await settled(paid.product);
  const dispute = paid.stripe.account.dispute(payments[0].reference).id;
  await until(
    () => sql(paid.product, `select 1 from disputes where invoice_id = $1 and state = 'open'`, change),
    (rows) => rows.length === 1,
  );
  return { who, id: id as number, renewal: renewal as number, change: change as number, dispute };
}

describe('days that are given back while a bank holds their money', () => {
  it('go back once the dispute is won, and are not lost', async () => {
    const { who, id, renewal, change, dispute } = await disputed();
    const before = Number(await credit(who));
    await refund(renewal);
    expect(await service(who, id)).toMatchObject({ duedate: '2027-05-01', price: '9.00' });
    expect(await invoiceOf(who, change)).toMatchObject({ status: 'paid', refunded: '0.00' });
    paid.stripe.account.closeDispute(dispute, 'won');
    // 31 of the 46 days that it was paid for.
    await until(
      () => invoiceOf(who, change),
      ({ refunded }) => refunded === '6.06',
    );
    await settled(paid.product);
    expect(Number(await credit(who))).toBeCloseTo(before + 3 + 6.06, 2);
  });

  it('do not when it is lost, for the bank has given them back', async () => {
    const { who, id, renewal, change, dispute } = await disputed();
    const before = Number(await credit(who));
    await refund(renewal);
    paid.stripe.account.closeDispute(dispute, 'lost');
    await until(
      () => invoiceOf(who, change),
      ({ status }) => status === 'refunded',
    );
    await settled(paid.product);
    expect(await service(who, id)).toMatchObject({ duedate: '2027-05-01', price: '3.00' });
    expect(Number(await credit(who))).toBeCloseTo(before + 3, 2);
    expect(await sql(paid.product, 'select 1 from service_returns')).toEqual([]);
  });
});
