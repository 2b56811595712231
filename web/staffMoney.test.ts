/** Staff's pages about money and what is sold in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../test/invoices.ts';
import { newCustomer } from '../test/people.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('records what came by bank for an invoice, and gives it back with what was said before', async () => {
  const id = await newInvoice(bed.product, await newCustomer(bed.product));
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/invoices/${id}`);
  await page.getByRole('button', { name: 'Record a transfer' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Record a transfer' }).click();
  await dialog.waitFor({ state: 'detached' });
  let isSent = false;
  let triedLate = false;
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('was paid. What is not delivered yet').waitFor();
  // An answer that takes longer than it takes to ask anew what would happen.
  await page.route('**/refund', async (route) => {
    const isTrial = (route.request().postDataJSON() as { dry_run?: boolean }).dry_run === true;
    if (!isTrial) isSent = true;
    else if (isSent) triedLate = true;
    else return route.continue();
    const answer = await route.fetch();
    await new Promise((done) => setTimeout(done, isTrial ? 0 : 800));
    await route.fulfill({ response: answer });
  });
  await dialog.getByLabel('Reason').fill(hostile);
  await dialog.getByLabel('Way').selectOption({ label: 'As credit' });
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { body } = await bed.product.staff.get(`/staff/invoices/${id}`);
  expect(body.data.invoice.status).toBe('refunded');
  expect(triedLate).toBe(false);
  expect(complaints()).toEqual([]);
});

it('makes a coupon, changes a product’s stock and says what a tax rate is', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto('/staff/coupons');
  await page.getByRole('button', { name: 'New coupon' }).click();
  await dialog.getByLabel('Code', { exact: true }).fill('SPRING');
  await dialog.getByLabel('Percent').fill('101');
  await dialog.getByRole('button', { name: 'New coupon' }).click();
  // What is wrong is said at its field, and what was typed stays.
  await dialog.locator('[aria-invalid=true]').waitFor();
  expect(await dialog.getByLabel('Code', { exact: true }).inputValue()).toBe('SPRING');
  await dialog.getByLabel('Percent').fill('10');
  await dialog.getByRole('button', { name: 'New coupon' }).click();
  await page.getByRole('cell', { name: 'SPRING' }).waitFor();
  complaints();
  await page.goto('/staff/products');
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Change' }).first().click();
  // Which groups there are is read when it is asked.
  await expect.poll(() => dialog.getByLabel('Group').inputValue()).not.toBe('');
  await dialog.getByLabel('Stock').fill('7');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.waitFor({ state: 'detached' });
  const id = new URL(page.url()).pathname.split('/').at(-1);
  const { body } = await bed.product.staff.get(`/staff/products/${id}`);
  expect(body.data.product.stock).toBe(7);
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA, needs no moving sideways, and runs nothing that was written', {
  timeout: 300_000,
}, async () => {
  const pages = [
    ...[
      'orders',
      'invoices',
      'payments',
      'transfers',
      'bank-statements',
      'refunds',
      'disputes',
      'payouts',
      'unknown-payments',
    ],
    ...[
      'coupons',
      'products',
      'products/1',
      'product-groups',
      'price-moves',
      'tax-rates',
      'tax-report',
      'books',
      'figures',
    ],
  ];
  expect(
    await lookAt(
      bed,
      pages.map((page) => `/staff/${page}`),
    ),
  ).toEqual([]);
});
