/** Ordering in a real browser, against the product itself. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newCoupon } from '../test/coupons.ts';
import { password } from '../test/orders.ts';
import { newServerProduct, newServers } from '../test/rack/stock.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let coupon: string;
beforeAll(async () => {
  bed = await openBed();
  coupon = await newCoupon(bed.product, { percent: 10 });
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('shows the price of what is chosen as it is chosen, keeps it in the address, and the invoice asks for it', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/services');
  await page.getByRole('link', { name: 'Order', exact: true }).first().click();
  const price = page.locator('[data-total]');
  // What the price of the product has in it is not counted twice by who adds up.
  await page.getByText('1 to 8 · 1 included, each more €2.00 a month').waitFor();
  await page.getByLabel('Memory (GB)').fill('3');
  await expect.poll(() => price.innerText()).toBe('€8.00');
  await page.getByText('Tiny Linux').click();
  await page.getByLabel('Coupon').fill('NOTHING');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page
    .getByText(/coupon/i)
    .nth(1)
    .waitFor();
  expect(await price.innerText()).toBe('€8.00');
  await page.getByLabel('Coupon').fill(coupon);
  await page.getByLabel('Coupon').press('Enter');
  await expect.poll(() => price.innerText()).toBe('€7.20');
  await page.getByLabel('Name', { exact: true }).fill('ordered.example.com');
  await expect.poll(() => page.url()).toContain('ordered.example.com');

  // The address says all of it but the password.
  await page.reload();
  await expect.poll(() => price.innerText()).toBe('€7.20');
  expect(await page.getByLabel('Memory (GB)').inputValue()).toBe('3');
  expect(await page.getByRole('radio', { name: 'Tiny Linux' }).isChecked()).toBe(true);
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ordered.example.com');

  // What is wrong is said at its field, and what was typed stays.
  await page.locator('input[autocomplete=new-password]').fill('weakweak');
  await page.getByRole('button', { name: 'Order for €7.20' }).click();
  const wrong = page.locator('.mantine-PasswordInput-error');
  await wrong.filter({ hasText: 'At least 8 characters, of three kinds' }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ordered.example.com');
  await page.getByRole('button', { name: 'Make one up' }).click();
  await wrong.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Order for €7.20' }).click();
  await page.waitForURL(/\/invoices\/\d+/);
  await page.getByRole('button', { name: 'Pay €7.20 from credit' }).waitFor();
  // From what was ordered it goes on to what it is.
  await page.getByRole('link', { name: 'VPS, ordered.example.com, monthly' }).waitFor();
  const id = page.url().split('/').at(-1);
  const { body } = await bed.product.customer.get(`/dashboard/invoices/${id}`);
  expect(body.data.invoice).toMatchObject({ total: '7.20', status: 'unpaid' });
  const { body: owned } = await bed.product.customer.get('/dashboard/services?search=ordered');
  expect(owned.data.services[0].options).toMatchObject({ option1: 3, option6: 'tiny' });
  // Refused twice, and told so by the pages; nothing else was amiss.
  expect(visitor.complaints().filter((line) => !/status of 400/.test(line))).toEqual([]);
});

it('lists on the invoice what is asked once for setting up: its lines make its subtotal', async () => {
  const { product } = bed;
  const options = { option1: 64, option2: 960, domain: 'once.example.com', password };
  const { body } = await product.customer.post('/cart/checkout/invoice', {
    products: [{ id: product.demo.products.dedicated, type: 'Hosting', cycle: 'monthly', options }],
  });
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/invoices/${body.data.invoice_id}`);
  const row = (words: RegExp) => page.getByRole('row', { name: words }).innerText();
  expect(await row(/once\.example\.com/)).toContain('€89.00');
  expect(await row(/Once, for setting up/)).toContain('€49.00');
  expect(visitor.complaints()).toEqual([]);
});

it('orders what is no machine, and says what is sold out', async () => {
  const { products } = bed.product.demo;
  await bed.product.staff.patch(`/staff/products/${products.dedicated}`, { stock: 0 });
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/order?product=${products.domain}`);
  await page.getByLabel('Domain name', { exact: true }).fill('my-house.example');
  await page.getByText('Sold out').waitFor();
  expect(await page.getByRole('radio', { name: /^Dedicated server/ }).isDisabled()).toBe(true);
  expect(await page.getByLabel('Password of root').count()).toBe(0);
  await page.getByRole('button', { name: 'Order for €12.00' }).click();
  await page.waitForURL(/\/invoices\/\d+/);
  const { body } = await bed.product.customer.get('/dashboard/services?search=my-house');
  expect(body.data.services[0]).toMatchObject({ domain: 'my-house.example', status: 'pending' });
  expect(visitor.complaints()).toEqual([]);
});

it('offers servers as they stand in the racks, with what is left of each, and orders the one that was chosen', async () => {
  const { product } = bed;
  const productId = await newServerProduct(product, { name: 'Metal' });
  await newServers(product, productId, 1, { memoryGb: 32, state: 'quarantined' });
  await newServers(product, productId, 2);
  const { serverIds } = await newServers(product, productId, 1, { memoryGb: 128, location: 'FRA' });
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/order?product=${productId}`);
  const server = (words: RegExp) => page.getByRole('radio', { name: words });
  await server(/^64 GB of memory · 1920 GB of storage · AMS\s*2 left/).waitFor();
  expect(await server(/^64 GB/).isChecked()).toBe(true);
  expect(await server(/^32 GB.*Sold out/s).isDisabled()).toBe(true);
  expect(await page.getByLabel('Memory (GB)').count()).toBe(0);
  await page.getByText('128 GB of memory').click();
  await expect.poll(() => page.url()).toContain('option1=128');
  // 50.00 and, above one of each, a tenth for each GB of both.
  await expect.poll(() => page.locator('[data-total]').innerText()).toBe('€254.60');
  await page.getByLabel('Name', { exact: true }).fill('metal.example.com');
  await page.getByRole('button', { name: 'Make one up' }).click();
  await page.getByLabel('IPv4 addresses').fill('0');
  await page.getByRole('button', { name: 'Order for €254.60' }).click();
  await page.waitForURL(/\/invoices\/\d+/);
  const { body } = await product.staff.get(`/staff/servers/${serverIds[0]}`);
  expect(body.data.server.state).toBe('held');
  expect(visitor.complaints()).toEqual([]);
});

it('gives the account a key in place, and what was typed into the order stays', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/order');
  const name = `laptop ${randomBytes(6).toString('hex')}`;
  await page.getByLabel('Name', { exact: true }).fill('with-key.example.com');
  await page.getByRole('button', { name: 'Add a key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the key').fill(name);
  const key = `ssh-ed25519 ${Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    randomBytes(32),
  ]).toString('base64')}`;
  await dialog.getByLabel('Public key').fill(key);
  await dialog.getByRole('button', { name: 'Add a key' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText(name, { exact: true }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('with-key.example.com');
  expect(new URL(page.url()).pathname).toBe('/order');
  expect(visitor.complaints()).toEqual([]);
});

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)(
  'keeps the price in view, and breaks no rule of WCAG 2.2 AA: $name',
  { timeout: 240_000 },
  async (corner) => {
    const language = corner.name.endsWith('German') ? 'de' : 'en';
    await bed.product.customer.post('/dashboard/account/preferences', { language });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    await signIn(bed, visitor, '/order');
    const found: string[] = [];
    for (const product of Object.values(bed.product.demo.products)) {
      await page.goto(`/order?product=${product}`);
      await page.locator('[aria-busy=false] [data-total], [role=alert]').waitFor();
      const box = await page.locator('[data-total], [role=alert]').boundingBox();
      expect(box?.y).toBeLessThan(corner.viewport.height);
      found.push(...(await visitor.faults()), ...visitor.complaints());
    }
    expect(found.filter((line) => !/status of 4\d\d/.test(line))).toEqual([]);
  },
);
