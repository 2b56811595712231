import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from './product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

/** What somebody sends whom nobody knows. */
async function send(method: 'GET' | 'POST', path: string, body?: string) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${product.url}/api${path}`, { method, ...(body && { body, headers }) });
  const text = await answer.text();
  return { status: answer.status, size: text.length, ...JSON.parse(text) };
}

it('a stranger’s body is read up to 128 KiB, and somebody’s who is known up to 1 MiB', async () => {
  const cart = (letters: number) => JSON.stringify({ products: [], couponcode: 'x'.repeat(letters) });
  for (const path of ['/cart/quote', '/auth/login', '/tickets/feedback'])
    expect(await send('POST', path, cart(131_072)), path).toMatchObject({
      ...{ status: 413, code: 'body_too_large' },
      message: 'The body is too large; at most 128 KiB are read',
    });
  expect(await send('POST', '/cart/quote', cart(120_000))).toMatchObject({ status: 400 });
  const known = await product.customer.post('/cart/checkout/invoice', {
    products: [],
    couponcode: 'x'.repeat(900_000),
  });
  expect(known.status).toBe(400);
});

it('an order of fifty items with all that they can have is no larger than that', async () => {
  const words = 'x'.repeat(100);
  const options = {
    option1: 1,
    option2: 1,
    option3: 1,
    option4: 1,
    option5: 1,
    option6: words,
    option7: words,
  };
  const item = { id: 1, type: 'Hosting', cycle: 'monthly', options: { ...options, option8: words } };
  const named = { ...item, options: { ...item.options, domain: 'x'.repeat(253), password: 'x'.repeat(128) } };
  const cart = JSON.stringify({ products: Array(50).fill(named), couponcode: words });
  expect((await send('POST', '/cart/quote', cart)).code).toBe('invalid_configuration');
});

it('a query of thousands of mistakes is told a hundred of them', async () => {
  const found = await send('GET', `/products?${'a&'.repeat(7_000)}`);
  expect(found).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(found.details.length).toBeLessThanOrEqual(100);
  expect(found.size).toBeLessThan(20_000);
});
