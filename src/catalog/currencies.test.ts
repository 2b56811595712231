import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../test/invoices.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { newHosting } from '../../test/products.ts';
import { contents, settled } from '../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const transfer = (person: Person, body: Record<string, unknown>) =>
  product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, {
    ...{ currency: 'EUR', reference: `R-${Math.random()}`, ...body },
  });
const grant = (person: Person, body: Record<string, unknown>) =>
  product.staff.post(`/staff/organizations/${person.organizationId}/credit`, {
    ...{ currency: 'EUR', description: 'For a test', ...body },
  });

describe('money', () => {
  // A yen has no parts, a dinar a thousand.
  it.each([
    ['JPY', 980, '980', '98', '1078', '539', '10.50'],
    ['KWD', 4_995, '4.995', '0.500', '5.495', '2.748', '1.0005'],
    ['EUR', 995, '9.95', '1.00', '10.95', '5.48', '1.005'],
  ])(
    'of %s has its own digits from the order to the refund',
    async (currency, minor, price, tax, total, part, wrong) => {
      const id = await newHosting(product, minor, { currency });
      await product.staff.post('/staff/tax/rates', {
        country: 'JP',
        rate: '10.00',
        valid_from: '2020-01-01',
      });
      const person = await newCustomer(product, { country: 'JP' });
      const cart = { products: [{ id, cycle: 'monthly', type: 'Hosting' }] };
      const { body } = await person.post('/cart/checkout/invoice', cart);
      expect(body.data).toMatchObject({ currency, subtotal: price, tax, total });
      const invoice = body.data.invoice_id;
      expect((await transfer(person, { amount: wrong, currency })).body.code).toBe('invalid_amount');
      expect((await transfer(person, { amount: total, currency })).body.data.invoices[0]).toMatchObject({
        ...{ id: invoice, status: 'paid', total },
      });
      const refund = (amount: string) =>
        product.staff.post(`/staff/invoices/${invoice}/refund`, {
          amount,
          reason: 'A part',
          method: 'credit',
        });
      expect((await refund(wrong)).body.code).toBe('invalid_amount');
      expect((await refund(part)).body.data.invoice).toMatchObject({ refunded: part });
      const { credits } = (await person.get('/dashboard/invoices')).body.data;
      expect(credits).toEqual([{ balance: part, currency }]);
    },
  );

  it('of one currency pays nothing in another', async () => {
    const id = await newHosting(product, 500, { currency: 'JPY' });
    const person = await newCustomer(product, { creditMinor: 100_000 });
    const cart = { products: [{ id, cycle: 'monthly', type: 'Hosting' }] };
    const invoice = (await person.post('/cart/checkout/invoice', cart)).body.data.invoice_id;
    expect((await payByCredit(person, invoice)).body.code).toBe('insufficient_credit');
    const named = { amount: '500.00', invoices: [{ invoice_id: invoice }] };
    expect((await transfer(person, named)).status).toBe(400);
    expect((await person.get(`/dashboard/invoices/${invoice}`)).body.data.invoice.status).toBe('unpaid');
  });

  it('in a currency that nothing is sold in is refused, and told which ones there are', async () => {
    const person = await newCustomer(product);
    for (const currency of ['CHF', 'XTS', 'ZZZ']) {
      const answers = [
        await transfer(person, { amount: '5', currency }),
        await grant(person, { amount: '5', currency }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.code]).toEqual([400, 'currency_not_sold']);
        expect(body.message).toContain('EUR');
      }
    }
  });

  it('counts as sold once a product is, also when it is retired since', async () => {
    const id = await newHosting(product, 500, { currency: 'SEK' });
    await product.staff.patch(`/staff/products/${id}`, { status: 'retired' });
    const person = await newCustomer(product);
    expect((await grant(person, { amount: '5.00', currency: 'SEK' })).status).toBe(200);
  });

  it.each([
    ['a number', 5],
    ['negative', '-5.00'],
    ['of too many digits', '5.001'],
    ['nothing', '0.00'],
    ['in words', 'five'],
    ['scientific', '5e2'],
    ['with a comma', '5,00'],
    ['empty', ''],
    ['endless', '9'.repeat(21)],
    ['null', null],
  ])('that is %s is refused, and nothing changes', async (_, amount) => {
    const person = await newCustomer(product);
    const invoice = await newInvoice(product, person);
    await settled(product);
    const before = await contents(product);
    const refused = [
      await transfer(person, { amount }),
      await grant(person, { amount }),
      await product.staff.post(`/staff/invoices/${invoice}/refund`, {
        amount,
        reason: 'x',
        method: 'credit',
      }),
      await product.staff.post(`/staff/invoices/${invoice}/payments`, { amount, reference: 'x' }),
    ];
    for (const { status } of refused) expect([400, 409]).toContain(status);
    expect(await contents(product)).toEqual(before);
  });
});
