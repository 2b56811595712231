/** What is pressed again because nobody answered, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('an order whose answers were lost is there once, also when it is pressed again', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/order?product=${bed.product.demo.products.domain}`);
  // The server does it, and no answer comes back.
  let isDeaf = true;
  let lost = 0;
  await page.route('**/api/cart/checkout/invoice', async (route) => {
    if (!isDeaf) return route.continue();
    await route.fetch();
    lost += 1;
    await route.abort();
  });
  await page.getByLabel('Domain name', { exact: true }).fill('pressed-again.example');
  const order = page.getByRole('button', { name: /^Order for/ });
  await order.click();
  await page.getByRole('alert').waitFor();
  expect(lost).toBe(3);
  isDeaf = false;
  await order.click();
  await page.waitForURL(/\/invoices\/\d+/);
  const owned = await bed.product.customer.get('/dashboard/services?search=pressed-again');
  expect(owned.body.data.services).toHaveLength(1);
  expect(owned.body.data.services[0].domain).toBe('pressed-again.example');
});
