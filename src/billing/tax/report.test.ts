import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';

let product: TestProduct;
let hosting: number;
beforeAll(async () => {
  product = await startTestProduct();
  hosting = await newHosting(product, 1_000);
  await product.staff.patch('/staff/settings', { company: { country: 'DE' }, tax: { one_stop_shop: true } });
  for (const [country, rate] of Object.entries({ DE: '19.00', FR: '20.00' }))
    await product.staff.post('/staff/tax/rates', { country, rate, valid_from: '2020-01-01' });
});
afterAll(() => product.stop());

const path = '/staff/tax/report?quarter=';
const quarterOf = (day: Date) => `${day.getUTCFullYear()}-Q${Math.floor(day.getUTCMonth() / 3) + 1}`;

async function buyer(said: Record<string, unknown>): Promise<Person> {
  const person = await newCustomer(product, { creditMinor: 100_000 });
  await person.patch('/dashboard/billing/profile', said);
  return person;
}

/** Pays 10.00 EUR and tax. */
async function buys(person: Person): Promise<number> {
  const cart = { products: [{ id: hosting, cycle: 'monthly', type: 'Hosting' }] };
  const id = (await person.post('/cart/checkout/invoice', cart)).body.data.invoice_id;
  expect((await payByCredit(person, id)).status).toBe(200);
  return id;
}

describe('the tax report of a quarter', () => {
  it('has what was paid and given back by country and buyer, and is what the ledger says', async () => {
    const quarter = quarterOf(product.clock.now());
    const consumer = await buyer({ country: 'FR', address_line1: 'Rue 1', declared_country: 'FR' });
    const business = await buyer({ country: 'FR', consumer: false });
    const german = await buyer({ country: 'DE' });
    const american = await buyer({ country: 'US' });
    const first = await buys(consumer);
    await buys(consumer);
    await buys(business);
    await buys(german);
    await buys(american);
    const refund = { amount: '6.00', reason: 'A part', method: 'credit' };
    await product.staff.post(`/staff/invoices/${first}/refund`, refund);
    // Ordered and not paid is not sold.
    const cart = { products: [{ id: hosting, cycle: 'monthly', type: 'Hosting' }] };
    await german.post('/cart/checkout/invoice', cart);

    const { body } = await product.staff.get(path + quarter);
    const row = (of: Record<string, unknown>) => ({
      ...{
        treatment: 'taxed',
        consumer: true,
        one_stop_shop: false,
        currency: 'EUR',
        invoices: 1,
        net: '10.00',
      },
      ...{ returned_net: '0.00', returned_tax: '0.00', taxable: '10.00', unproven: 0, ...of },
    });
    expect(body.data.rows).toEqual([
      row({ country: 'DE', rate: '19.00', tax: '1.90', tax_due: '1.90', unproven: 1 }),
      row({
        country: 'FR',
        rate: '20.00',
        consumer: false,
        one_stop_shop: true,
        tax: '2.00',
        tax_due: '2.00',
      }),
      row({
        ...{ country: 'FR', rate: '20.00', one_stop_shop: true, invoices: 2, net: '20.00', tax: '4.00' },
        ...{ returned_net: '5.00', returned_tax: '1.00', taxable: '15.00', tax_due: '3.00' },
      }),
      row({ country: 'US', rate: '0.00', treatment: 'outside', tax: '0.00', tax_due: '0.00' }),
    ]);
    expect(body.data.totals).toEqual([
      { currency: 'EUR', tax_due: '6.90', ledger: '6.90', difference: '0.00' },
    ]);

    const csv = await product.staff.get(`/staff/tax/report/csv?quarter=${quarter}`);
    expect(csv.headers.get('content-type')).toContain('text/csv');
    const lines = String(csv.body).trimEnd().split('\r\n');
    expect([lines[0], lines[3]]).toEqual([
      'country,treatment,rate,consumer,one_stop_shop,currency,invoices,net,tax,returned_net,returned_tax,taxable,tax_due,unproven',
      'FR,taxed,20.00,true,true,EUR,2,20.00,4.00,5.00,1.00,15.00,3.00,0',
    ]);
  });

  it('counts what goes back in the quarter in which it does, also when nothing is sold then', async () => {
    const person = await buyer({ country: 'DE' });
    const id = await buys(person);
    const before = (await product.staff.get(path + quarterOf(product.clock.now()))).body.data;
    product.clock.travel(92 * 86_400_000);
    const later = quarterOf(product.clock.now());
    expect((await product.staff.get(path + later)).body.data).toMatchObject({ rows: [], totals: [] });
    await product.staff.post(`/staff/invoices/${id}/refund`, { reason: 'All', method: 'credit' });
    const { body } = await product.staff.get(path + later);
    expect(body.data.rows).toMatchObject([{ country: 'DE', invoices: 0, net: '0.00', tax_due: '-1.90' }]);
    expect(body.data.totals).toEqual([
      { currency: 'EUR', tax_due: '-1.90', ledger: '-1.90', difference: '0.00' },
    ]);
    expect((await product.staff.get(path + before.quarter)).body.data).toEqual(before);
  });

  it.each(['2026', '2026-Q5', '2026-q1', 'Q1-2026', '1999-Q1', ''])('of %j is refused', async (quarter) => {
    expect((await product.staff.get(path + quarter)).status).toBe(400);
  });

  it('is for those who see to money', async () => {
    const support = await newStaff(product, 'support');
    expect((await support.get(`${path}2026-Q1`)).status).toBe(403);
  });
});
