import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, patient } from '../../../test/client.ts';
import { newCustomer, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let hosting: number;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  hosting = await newHosting(product, 1_000);
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
});
afterAll(() => product.stop());

let made = 0;
/** A coupon that staff makes, under a code of its own. */
async function newCoupon(terms: Record<string, unknown>): Promise<{ id: number; code: string }> {
  made += 1;
  const answer = await product.staff.post('/staff/coupons', { code: `TEST-${made}`, ...terms });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.coupon;
}

const cart = (couponcode: string, cycle = 'monthly', id = hosting) => ({
  products: [{ id, cycle, type: 'Hosting' }],
  couponcode,
});
const order = (person: Client, couponcode: string, cycle?: string, id?: number) =>
  person.post('/cart/checkout/invoice', cart(couponcode, cycle, id));
const uses = async (id: number) => (await product.staff.get(`/staff/coupons/${id}`)).body.data.coupon.uses;

describe('a coupon', () => {
  it('takes per cent or an amount off what is ordered with it', async () => {
    const [tenth, fixed] = [
      await newCoupon({ percent: 10 }),
      await newCoupon({ amount: '2.50', currency: 'EUR' }),
    ];
    expect((await order(customer, tenth.code.toLowerCase())).body.data).toMatchObject({
      discount: '1.00',
      total: '9.00',
    });
    expect((await order(customer, fixed.code)).body.data).toMatchObject({ discount: '2.50', total: '7.50' });
  });

  it('is for its cycles, products and days alone, at the quote as at the order', async () => {
    const other = await newHosting(product, 500);
    const { code } = await newCoupon({
      ...{ percent: 50, cycles: ['annually'], product_ids: [hosting] },
      starts_at: new Date(product.clock.now().getTime() - 60_000).toISOString(),
      expires_at: new Date(product.clock.now().getTime() + 3_600_000).toISOString(),
    });
    const answers = async (cycle: string, id: number) => {
      const quote = await customer.post('/cart/quote', cart(code, cycle, id));
      const { status, body } = await order(customer, code, cycle, id);
      expect([quote.status, quote.body.data?.total]).toEqual([status, body.data?.total]);
      return body.data?.discount ?? body.code;
    };
    expect(await answers('annually', hosting)).toBe('50.00');
    expect(await answers('monthly', hosting)).toBe('invalid_coupon');
    expect(await answers('annually', other)).toBe('invalid_coupon');
    product.clock.travel(2 * 3_600_000);
    expect(await answers('annually', hosting)).toBe('invalid_coupon');
  });

  it('is used so often by one customer and no more, and comes back with an order that is given up', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses_per_customer: 2 });
    const [one, two] = [await newCustomer(product), await newCustomer(product)];
    const invoices = [];
    for (const _ of [1, 2]) invoices.push((await order(one, code)).body.data.invoice_id);
    expect((await order(one, code)).body.message).toBe('invalid coupon code');
    expect((await one.post('/cart/quote', cart(code))).body.message).toBe('invalid coupon code');
    expect((await order(two, code)).status).toBe(200);
    await one.post(`/dashboard/invoices/${invoices[0]}/cancel`);
    await settled(product);
    expect((await order(one, code)).status).toBe(200);
    expect((await order(one, code)).status).toBe(400);
    expect(await uses(id)).toBe(3);
  });

  it('is used so often by one person, for however many organizations of theirs', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses_per_customer: 1 });
    const own = await signedIn(product, await newCustomer(product));
    const { body } = await own.post('/dashboard/organizations', { name: 'Second' });
    const second = { 'x-organization-id': String(body.data.organization.id) };
    const first = await own.post('/cart/checkout/invoice', cart(code));
    expect(first.status).toBe(200);
    expect((await own.post('/cart/quote', cart(code), second)).body.code).toBe('invalid_coupon');
    const both = () =>
      Promise.all([
        own.post('/cart/checkout/invoice', cart(code), second),
        own.post('/cart/checkout/invoice', cart(code)),
      ]);
    expect((await both()).map(({ status }) => status)).toEqual([400, 400]);
    await own.post(`/dashboard/invoices/${first.body.data.invoice_id}/cancel`);
    await settled(product);
    expect((await both()).map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(await uses(id)).toBe(1);
  });

  it('is used and given back also by a process of the version before, which knows of organizations alone', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses_per_customer: 2 });
    const own = await newCustomer(product);
    const { invoice_id: first } = (await order(own, code)).body.data;
    const asBefore = (text: string) => sql(product, text, id, own.organizationId);
    // As it said it.
    const take = () =>
      asBefore(`insert into coupon_uses as u (coupon_id, organization_id, uses) values ($1, $2::bigint, 1)
        on conflict (coupon_id, organization_id) do update set uses = u.uses + 1 where u.uses < 2 returning uses`);
    expect(await take()).toEqual([{ uses: 2 }]);
    await sql(product, 'update coupons set uses = uses + 1 where id = $1', id);
    expect((await order(own, code)).body.code).toBe('invalid_coupon');
    expect(await take()).toEqual([]);
    await asBefore(
      `update coupon_uses set uses = uses - 1 where coupon_id = $1 and organization_id = $2 and uses > 0`,
    );
    await sql(product, 'update coupons set uses = uses - 1 where id = $1', id);
    await own.post(`/dashboard/invoices/${first}/cancel`);
    await settled(product);
    for (const _ of [1, 2]) expect((await order(own, code)).status).toBe(200);
    expect((await order(own, code)).body.code).toBe('invalid_coupon');
    expect(await uses(id)).toBe(2);
  });

  it('that a process of the version before gave back is there again for its person, too', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses_per_customer: 1 });
    const own = await signedIn(product, await newCustomer(product));
    const { body } = await own.post('/dashboard/organizations', { name: 'Second' });
    const second = { 'x-organization-id': String(body.data.organization.id) };
    expect((await own.post('/cart/checkout/invoice', cart(code))).status).toBe(200);
    // As it said it.
    await sql(product, 'update coupon_uses set uses = uses - 1 where coupon_id = $1 and uses > 0', id);
    await sql(product, 'update coupons set uses = uses - 1 where id = $1', id);
    expect((await own.post('/cart/checkout/invoice', cart(code), second)).status).toBe(200);
    for (const where of [second, {}])
      expect((await own.post('/cart/checkout/invoice', cart(code), where)).body.code).toBe('invalid_coupon');
    expect(await uses(id)).toBe(1);
  });

  it('with so many uses is sold so often, however many order at once', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses: 7, max_uses_per_customer: 3 });
    const people = [await newCustomer(product), await newCustomer(product), await newCustomer(product)];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) => {
        const person = people[nth % people.length] ?? customer;
        // A machine that has other work, too, sends those away who wait too long for their turn.
        return order(patient(person), code).then(({ status }) => ({ person, status }));
      }),
    );
    const sold = answers.filter(({ status }) => status === 200);
    expect(sold).toHaveLength(7);
    expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
    for (const person of people)
      expect(sold.filter((each) => each.person === person).length).toBeLessThanOrEqual(3);
    expect(await uses(id)).toBe(7);
  });

  it('that staff ended is none any more, and those who have it keep it', async () => {
    const { id, code } = await newCoupon({ percent: 10 });
    const { invoice_id: invoice } = (await order(customer, code)).body.data;
    expect((await product.staff.post(`/staff/coupons/${id}/end`)).body.data.coupon.active).toBe(false);
    expect((await order(customer, code)).body.code).toBe('invalid_coupon');
    expect((await customer.get(`/dashboard/invoices/${invoice}`)).body.data.invoice.discount).toBe('1.00');
    expect((await product.staff.post(`/staff/coupons/${id}/end`)).status).toBe(409);
    expect((await product.staff.patch(`/staff/coupons/${id}`, { max_uses: 5 })).status).toBe(409);
  });

  it('is changed in its terms, and stays what it was in the rest', async () => {
    const { id, code } = await newCoupon({ percent: 10, max_uses: 1, cycles: ['annually'] });
    await order(customer, code, 'annually');
    expect((await order(customer, code, 'annually')).status).toBe(400);
    const { body } = await product.staff.patch(`/staff/coupons/${id}`, { max_uses: 2, cycles: null });
    expect(body.data.coupon).toMatchObject({ percent: 10, max_uses: 2, cycles: null, uses: 1 });
    expect((await order(customer, code)).status).toBe(200);
  });
});

describe('a coupon that cannot be', () => {
  it.each([
    ['without a discount', {}],
    ['with two discounts', { percent: 10, amount: '1.00', currency: 'EUR' }],
    ['of all and more', { percent: 101 }],
    ['of nothing', { percent: 0 }],
    ['of half a per cent', { percent: 0.5 }],
    ['of an amount as a number', { amount: 5, currency: 'EUR' }],
    ['of a negative amount', { amount: '-5.00', currency: 'EUR' }],
    ['of no amount', { amount: '0.00', currency: 'EUR' }],
    ['of too many digits', { amount: '1.005', currency: 'EUR' }],
    ['of no currency', { amount: '5.00' }],
    ['of per cent with a currency', { percent: 5, currency: 'EUR' }],
    ['in a currency that nothing is sold in', { amount: '5.00', currency: 'XTS' }],
    ['for a product that is none', { percent: 5, product_ids: [999_999] }],
    ['for a cycle that is none', { percent: 5, cycles: ['weekly'] }],
    ['for no cycle', { percent: 5, cycles: [] }],
    [
      'that ends before it begins',
      { percent: 5, starts_at: '2030-01-02T00:00:00Z', expires_at: '2030-01-01T00:00:00Z' },
    ],
    ['for nobody', { percent: 5, max_uses_per_customer: 0 }],
    ['with a code of other letters', { percent: 5, code: 'ÄÖ' }],
  ])('%s is refused, and nothing changes', async (_, terms) => {
    await settled(product);
    const before = await contents(product);
    const answer = await product.staff.post('/staff/coupons', { code: 'WRONG', ...terms });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(await contents(product)).toEqual(before);
  });

  it('has a code that another has, in whatever letters', async () => {
    const { code } = await newCoupon({ percent: 10 });
    const again = await product.staff.post('/staff/coupons', { code: code.toLowerCase(), percent: 20 });
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
  });

  it('may be used less often than it was', async () => {
    const { id, code } = await newCoupon({ percent: 10 });
    for (const _ of [1, 2]) await order(customer, code);
    const answer = await product.staff.patch(`/staff/coupons/${id}`, { max_uses: 1 });
    expect(answer.body.details[0]).toMatchObject({ field: 'max_uses' });
  });

  it('is made by support', async () => {
    const support = await newStaff(product, 'support');
    expect((await support.post('/staff/coupons', { code: 'SUPPORT', percent: 10 })).status).toBe(403);
    expect((await support.get('/staff/coupons')).status).toBe(200);
  });
});
