import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCoupon } from '../../test/coupons.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';

let product: TestProduct;
let customer: Person;
let right: string;
beforeAll(async () => {
  product = await startTestProduct({ env: { RATE_LIMITS: 'on' } });
  customer = await newCustomer(product);
  right = await newCoupon(product, { percent: 10 });
});
afterAll(() => product.stop());

function cart(couponcode?: string) {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  return { products: [item], ...(couponcode !== undefined && { couponcode }) };
}

it('right codes are looked at however many come at once', async () => {
  const quotes = await Promise.all(
    Array.from({ length: 60 }, () => product.nobody.post('/cart/quote', cart(right))),
  );
  expect(quotes.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
});

it('codes of coupons cannot be guessed: after a few wrong ones no more are looked at, the right one neither', async () => {
  const quote = (code?: string) => product.nobody.post('/cart/quote', cart(code));
  for (let nth = 0; nth < 30; nth += 1)
    expect((await quote(right)).status, 'right ones count for nothing').toBe(200);
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, nth) => quote(`GUESS-${nth}`)));
  expect(guesses.filter(({ body }) => body.code === 'invalid_coupon')).toHaveLength(20);
  const refused = guesses.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(20);
  expect(refused[0]?.body.code).toBe('rate_limited');
  expect(refused[0]?.body.message).toMatch(/coupon codes were wrong/);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await quote(right)).status).toBe(429);
  expect((await quote()).status, 'without a coupon nothing changes').toBe(200);
  // A customer at the same address goes on, by a number of their own, which ordering and upgrading share.
  expect((await customer.post('/cart/quote', cart(right))).status).toBe(200);
  const more = [];
  for (let nth = 0; nth < 20; nth += 1)
    more.push(await customer.post(nth % 2 ? '/cart/quote' : '/cart/checkout/invoice', cart(`G-${nth}`)));
  expect(more.map(({ body }) => body.code)).toEqual(Array(20).fill('invalid_coupon'));
  expect((await customer.post('/cart/checkout/invoice', cart('GUESS'))).status).toBe(429);
  expect((await customer.post('/cart/quote', cart('GUESS'))).status).toBe(429);
  expect((await customer.post('/cart/checkout/invoice', cart())).status).toBe(200);
  const upgrade = { product_id: product.demo.products.hosting, couponcode: 'GUESS', dry_run: true };
  expect((await customer.post('/dashboard/services/1/upgrade', upgrade)).status).toBe(429);
});
