/** Staff's lists in a real browser: who and what leads, and an empty one says what comes next. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { orderVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import { settled } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
  await orderVps(bed.product, bed.product.customer);
  await settled(bed.product);
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('lead with what was ordered and whose it is', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/orders');
  const first = page.getByRole('row').nth(1).getByRole('cell').first();
  await first.getByRole('link', { name: 'web1.example.com' }).waitFor();
  await page
    .getByRole('row')
    .nth(1)
    .getByRole('link', { name: /^Invoice \d/ })
    .waitFor();
  expect(complaints()).toEqual([]);
});

it('say in words what happened, to what and by whom, in English and German', async () => {
  const customer = await newCustomer(bed.product);
  await bed.product.staff.post(`/staff/organizations/${customer.organizationId}/credit`, {
    ...{ amount: '1.00', currency: 'EUR', description: 'Sorry' },
  });
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/audit?organization_id=${customer.organizationId}`);
  const row = page.getByRole('row').filter({ hasText: 'credit.granted' });
  await row.getByText('An organization got credit').waitFor();
  await row.getByRole('link', { name: bed.product.demo.staff.email }).waitFor();
  expect(await row.getByRole('link', { name: /./ }).first().getAttribute('href')).toBe(
    `/staff/organizations/${customer.organizationId}`,
  );
  await bed.product.staff.post('/dashboard/account/preferences', { language: 'de' });
  await page.reload();
  await row.getByText('Einer Organisation wurde Guthaben gutgeschrieben').waitFor();
  await bed.product.staff.post('/dashboard/account/preferences', { language: 'en' });
  expect(complaints()).toEqual([]);
});

it('tell customers in their language what happened, with what it was about', async () => {
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'de' });
  const visitor = await bed.open();
  await signIn(bed, visitor, '/organization/activity');
  const row = visitor.page.getByRole('row').filter({ hasText: 'invoice_created' }).first();
  await row.getByText('Eine Rechnung wurde gestellt').waitFor();
  await row.getByText('4,00 €').waitFor();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});

it('say what to do when there is nothing, and take a filter back that found nothing', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/coupons');
  await page.getByText('No coupons yet. Make one').waitFor();
  await page.goto('/staff/services?search=nobody-has-this');
  await page.getByText('Nothing matches what you filter by.').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('link', { name: 'web1.example.com' }).waitFor();
  await expect.poll(() => page.getByLabel('Search', { exact: true }).inputValue()).toBe('');
  expect(complaints()).toEqual([]);
});

it('let go of what was typed when somebody goes on to what is in sight', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/services');
  const link = page.getByRole('link', { name: 'web1.example.com' });
  await link.waitFor();
  // The next page is on its way for longer than a filter waits for more to be typed.
  await page.route('**/*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await route.continue();
  });
  await page.getByLabel('Search', { exact: true }).fill('web1');
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'web1.example.com' }).waitFor();
  const { pathname, search } = new URL(page.url());
  expect([pathname.replace(/\d+$/, '1'), search]).toEqual(['/staff/services/1', '']);
  expect(complaints()).toEqual([]);
});

it('have the columns that somebody chose, also after a reload, and always the first one', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/orders');
  const headings = () => page.getByRole('columnheader').allInnerTexts();
  await page.getByRole('row').nth(1).waitFor();
  const all = await headings();
  await page.getByRole('button', { name: 'Columns' }).click();
  const choices = await page.getByRole('dialog', { name: 'Columns' }).getByRole('checkbox').all();
  expect(choices.length).toBeGreaterThan(2);
  const put = page.getByRole('dialog', { name: 'Columns' }).getByRole('checkbox').last();
  await put.uncheck();
  await expect.poll(async () => (await headings()).length).toBe(all.length - 1);
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('row').nth(1).waitFor();
  const chosen = await headings();
  expect([chosen.length, chosen[0]]).toEqual([all.length - 1, all[0]]);
  await page.goto('/staff/services');
  await page.getByRole('row').nth(1).waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  expect(await page.getByRole('checkbox', { checked: false }).count()).toBe(0);
  await page.goto('/staff/orders');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('button', { name: 'All columns' }).click();
  await expect.poll(headings).toEqual(all);
  expect(complaints()).toEqual([]);
});

it('break no rule of WCAG 2.2 AA, and need no moving sideways', async () => {
  expect(await lookAt(bed, ['/staff/audit', '/staff/orders', '/staff/figures', '/staff/refunds'])).toEqual(
    [],
  );
});
