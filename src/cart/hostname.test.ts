import { afterAll, beforeAll, expect, it } from 'vitest';
import { vpsCart } from '../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

it('a machine is ordered under a hostname that its system can keep: 64 characters', async () => {
  const order = (characters: number) => {
    const domain = `${'a'.repeat(50)}.${'b'.repeat(characters - 51)}`;
    return product.customer.post('/cart/quote', vpsCart(product.demo, { domain }));
  };
  expect((await order(64)).status).toBe(200);
  const refused = await order(65);
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_domain']);
  expect(refused.body.details).toMatchObject([
    { field: 'products[0].options.domain', message: /at most 64 characters/ },
  ]);
});
