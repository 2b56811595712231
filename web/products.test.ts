/** What staff sells, and what a change of it or of money would do before it is done, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../test/invoices.ts';
import { newCustomer } from '../test/people.ts';
import { newHosting } from '../test/products.ts';
import { settled } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let id: number;
beforeAll(async () => {
  bed = await openStaffBed();
  id = await newHosting(bed.product, 1_000);
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const read = async () => (await bed.product.staff.get(`/staff/products/${id}`)).body.data.product;

it('adds an option of choices, moves them, tries what it costs, and takes it out again', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto(`/staff/products/${id}`);
  await page.getByRole('button', { name: 'Add an option' }).click();
  await dialog.getByLabel('Option').selectOption('option7');
  expect(await dialog.getByLabel('Name').inputValue()).toBe('port_speed');
  await dialog.getByLabel('Kind').selectOption('choice');
  const choice = (nth: number) => dialog.getByRole('group', { name: `Choices ${nth}` });
  await choice(1).getByLabel('Value').fill('1gbit');
  await choice(1).getByLabel('Called').fill('1 Gbit/s');
  await dialog.getByRole('button', { name: 'Add a choice' }).click();
  await choice(2).getByLabel('Value').fill('1gbit');
  await choice(2).getByLabel('Called').fill('10 Gbit/s');
  await choice(2).getByLabel('Price').fill('five');
  await dialog.getByRole('button', { name: 'Add an option' }).click();
  // What is wrong is said at its field, and what was typed stays.
  await choice(2).locator('[aria-invalid=true]').waitFor();
  await choice(2).getByLabel('Value').fill('10gbit');
  await choice(2).getByLabel('Price').fill('5.00');
  await dialog.getByRole('button', { name: 'Move up: Choices 2' }).click();
  expect(await choice(1).getByLabel('Value').inputValue()).toBe('10gbit');
  complaints();
  await dialog.getByRole('button', { name: 'Add an option' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await read()).options).toMatchObject([
    { key: 'option7', name: 'port_speed', values: [{ value: '10gbit', price: '5.00' }, { value: '1gbit' }] },
  ]);
  const total = page.locator('[data-total]');
  await total.filter({ hasText: '€15.00' }).waitFor();
  await page.getByLabel('Port speed').selectOption('1gbit');
  await total.filter({ hasText: '€10.00' }).waitFor();
  await page.getByRole('button', { name: 'Retire' }).click();
  await dialog.getByText('Nobody has this product yet.').waitFor();
  await dialog.getByRole('button', { name: 'Retire' }).click();
  await page.getByRole('heading', { name: 'Options that are not offered any more' }).waitFor();
  expect((await read()).retired_options).toMatchObject([{ key: 'option7' }]);
  // What was wrong was refused, which the browser notes.
  expect(complaints().filter((line) => !line.includes('400 (Bad Request)'))).toEqual([]);
});

it('says before a price is set, moved, or money given back, whom it concerns and what goes where', async () => {
  const customer = await newCustomer(bed.product, { creditMinor: 100_000 });
  const cart = { products: [{ id, cycle: 'monthly', type: 'Hosting' }] };
  const { data } = (await customer.post('/cart/checkout/invoice', cart)).body;
  expect((await payByCredit(customer, data.invoice_id)).status).toBe(200);
  await settled(bed.product);
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto(`/staff/products/${id}`);
  await page.getByRole('button', { name: 'Set a price' }).click();
  await dialog.getByLabel('Price (optional)').fill('12.00');
  await dialog.getByText('Services that have it: 1').waitFor();
  await dialog.getByText('Monthly: 1 for €10.00 in all, then €12.00').waitFor();
  expect((await read()).prices[0].price).toBe('10.00');
  await dialog.getByRole('button', { name: 'Set a price' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Move running services' }).click();
  await dialog.getByLabel('From').fill('2099-01-01');
  await dialog.getByText('1 get another price').waitFor();
  await dialog.getByText('€10.00, then €12.00').waitFor();
  await page.goto(`/staff/invoices/${data.invoice_id}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByLabel('Way').selectOption({ label: 'As credit' });
  await dialog.getByLabel('Amount').fill('4.00');
  await dialog.getByText('€4.00 to the account credit').waitFor();
  await dialog.getByText(/Credit note CN-\d{4}-…: -€4.00/).waitFor();
  const { invoice } = (await bed.product.staff.get(`/staff/invoices/${data.invoice_id}`)).body.data;
  expect(invoice).toMatchObject({ status: 'paid', refunded: '0.00' });
  expect(complaints()).toEqual([]);
  await dialog.getByLabel('Amount').fill('400.00');
  await dialog.getByText('can be refunded').waitFor();
});

it('breaks no rule of WCAG 2.2 AA, and needs no moving sideways', async () => {
  expect(await lookAt(bed, [`/staff/products/${bed.product.demo.products.vps}`])).toEqual([]);
});
