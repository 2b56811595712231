import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled } from '../../../test/sql.ts';

let product: TestProduct;
let hosting: number;
beforeAll(async () => {
  product = await startTestProduct();
  hosting = await newHosting(product, 1_000);
});
afterAll(() => product.stop());

/** Web hosting that was ordered, paid and delivered; the service's id. */
async function delivered(person: Person, couponcode?: string): Promise<number> {
  const item = { id: hosting, cycle: 'monthly', type: 'Hosting' };
  const cart = { products: [item, item], ...(couponcode && { couponcode }) };
  const { invoice_id: invoice, service_ids: ids } = (await person.post('/cart/checkout/invoice', cart)).body
    .data;
  expect((await payByCredit(person, invoice)).status).toBe(200);
  await settled(product);
  expect((await product.staff.post(`/staff/services/${ids[0]}/deliver`)).status).toBe(200);
  return ids[0];
}

async function renewed(person: Person, serviceId: number) {
  const { body } = await person.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
  return (await person.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data.invoice;
}

describe('a renewal', () => {
  it.each([
    ['per cent for every payment', { percent: 30, recurring: true }, '3.00', '7.00'],
    [
      'an amount for every payment, its part of it',
      { amount: '5.00', currency: 'EUR', recurring: true },
      '2.50',
      '7.50',
    ],
    ['per cent for the first payment', { percent: 30 }, '0.00', '10.00'],
  ])('of what was ordered with a coupon of %s costs so much', async (_, terms, discount, total) => {
    const code = `RENEW-${discount}-${total}`.replaceAll('.', '');
    const made = await product.staff.post('/staff/coupons', { code, ...terms });
    const person = await newCustomer(product, { creditMinor: 10_000 });
    const service = await delivered(person, code);
    // Who has it keeps it.
    await product.staff.post(`/staff/coupons/${made.body.data.coupon.id}/end`);
    expect(await renewed(person, service)).toMatchObject({ subtotal: '10.00', discount, total });
  });

  it('carries the rate of its first day, though it is issued before', async () => {
    const person = await newCustomer(product, { creditMinor: 10_000, country: 'EE' });
    const day = (days: number) =>
      new Date(product.clock.now().getTime() + days * 86_400_000).toISOString().slice(0, 10);
    await product.staff.post('/staff/tax/rates', { country: 'EE', rate: '22.00', valid_from: '2024-01-01' });
    const service = await delivered(person);
    await product.staff.post('/staff/tax/rates', { country: 'EE', rate: '24.00', valid_from: day(20) });
    expect(await renewed(person, service)).toMatchObject({ tax_rate: '24.00', tax: '2.40', total: '12.40' });
  });
});
