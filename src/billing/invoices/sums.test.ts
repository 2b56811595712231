import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settledContents } from '../../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product);
  await newHosting(product, 500, { currency: 'JPY' });
  await newHosting(product, 5_000, { currency: 'KWD' });
});
afterAll(() => product.stop());

const grant = (amount: string, currency: string) =>
  product.staff.post(`/staff/organizations/${customer.organizationId}/credit`, {
    ...{ amount, currency, description: 'For a test' },
  });
const credit = async () => (await customer.get('/dashboard/invoices')).body.data;

describe('credit', () => {
  it('is shown in each currency, and what is shown first does not change with what moved last', async () => {
    expect(await credit()).toMatchObject({ credit_balance: '0.00', credit_currency: null, credits: [] });
    await grant('5.00', 'EUR');
    await grant('900', 'JPY');
    expect(await credit()).toMatchObject({
      credit_balance: '5.00',
      credit_currency: 'EUR',
      credits: [
        { balance: '5.00', currency: 'EUR' },
        { balance: '900', currency: 'JPY' },
      ],
      last_credit_transaction: { amount: '5.00', currency: 'EUR' },
    });
    expect((await customer.get('/dashboard/account')).body.data.user.credit).toBe('5.00');
  });

  it('that cannot be counted to the cent is refused, and nothing is written', async () => {
    const largest = '999999999999.999';
    for (let nth = 0; nth < 9; nth += 1) expect((await grant(largest, 'KWD')).status).toBe(200);
    const before = await settledContents(product);
    const answer = await grant(largest, 'KWD');
    expect([answer.status, answer.body.code]).toEqual([400, 'amount_too_large']);
    expect(await contents(product)).toEqual(before);
    expect((await credit()).credits.at(-1)).toEqual({ balance: '8999999999999.991', currency: 'KWD' });
  });
});

it('who founds a second organization has to say from then on for which one they order', async () => {
  const founder = await newCustomer(product, { creditMinor: 1_000 });
  const order = () => product.nobody.post('/cart/checkout/invoice', { products: [] }, { token: founder.key });
  expect((await order()).body.code).toBe('empty_cart');
  expect((await founder.post('/dashboard/organizations', { name: 'A second one' })).status).toBe(200);
  expect((await order()).body.code).toBe('organization_ambiguous');
});
