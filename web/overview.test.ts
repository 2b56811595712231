/** A customer's overview in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let serviceId: number;
let invoiceId: number;
let tid: string;
beforeAll(async () => {
  bed = await openBed();
  const { customer, staff } = bed.product;
  ({ serviceId } = await runningVps(bed.product, customer, { domain: 'held.example.com' }));
  await runningVps(bed.product, customer, { domain: 'runs.example.com' });
  ({ invoiceId } = await orderVps(bed.product, customer, { domain: 'new.example.com' }));
  const draft = {
    department: 'support',
    priority: 'low',
    subject: `Zeppelin ${'W'.repeat(90)}`,
    message: 'It fell',
  };
  ({ tid } = (await customer.post('/dashboard/tickets/create', draft)).body.data.ticket);
  await staff.post(`/staff/tickets/${tid}/replies`, { message: 'It flies' });
  await staff.post(`/staff/services/${serviceId}/suspend`, { reason: 'Unpaid' });
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('says what needs whoever looks, each with its next step, in at most four requests', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/tickets');
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
  // What the page before still asks for is none of this one's.
  await page.goto('about:blank');
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.add(pathname);
  });
  await page.goto('/');
  await page.getByText('held.example.com is suspended').waitFor();
  const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
  expect(await item('Zeppelin').getByRole('link').getAttribute('href')).toBe(`/tickets/${tid}`);
  expect(await item('to be paid by').getByRole('link').getAttribute('href')).toBe(`/invoices/${invoiceId}`);
  await page.getByRole('cell', { name: 'runs.example.com' }).waitFor();
  await page.getByRole('heading', { name: 'What happened last' }).waitFor();
  // Whatever page it is, a window asks who somebody is, whose name is on it, and for news.
  const ofWindow = ['dashboard/account', 'dashboard/organizations', 'brand', 'dashboard/events'];
  const ofPage = [...asked].filter((each) => !ofWindow.includes(each.replace('/api/', '')));
  expect(ofPage).toContain('/api/dashboard/attention');
  expect(ofPage.length, ofPage.join(' ')).toBeLessThanOrEqual(4);
  expect(visitor.complaints()).toEqual([]);
});

it('shows without being touched that something is no need any more', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const streaming = page.waitForResponse('**/api/dashboard/events**');
  await signIn(bed, visitor);
  const need = page.getByText('held.example.com is suspended');
  await need.waitFor();
  await streaming;
  await bed.product.staff.post(`/staff/services/${serviceId}/unsuspend`, {});
  await need.waitFor({ state: 'detached' });
  await bed.product.staff.post(`/staff/services/${serviceId}/suspend`, { reason: 'Unpaid' });
  await need.waitFor();
});

it('leads from what happened to rules of an address to its rules', async () => {
  const { customer } = bed.product;
  const [{ address }] = (await customer.get('/shield/v2/ips')).body.data.ips;
  const ip = String(address).replace(/\/\d+$/, '');
  const made = await customer.post('/shield/v2/rules', {
    destination: ip,
    action: 'deny',
    protocol: 1,
    order: 100,
  });
  expect(made.status).toBe(200);
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor);
  const lately = page.getByRole('link', { name: 'a rule of Shield was made' });
  expect(await lately.getAttribute('href')).toBe(`/shield/addresses/${ip}`);
  await lately.click();
  await page.getByRole('heading', { level: 1, name: ip }).waitFor();
  expect(visitor.complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  const found: string[] = [];
  for (const corner of [
    { viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-GB' },
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark', locale: 'de-DE' },
  ] as const) {
    const language = corner.locale.slice(0, 2);
    await bed.product.customer.post('/dashboard/account/preferences', { language });
    const visitor = await bed.open(corner);
    await signIn(bed, visitor);
    await visitor.page.getByText('held.example.com').first().waitFor();
    await expect.poll(() => visitor.page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
    for (const fault of [...(await visitor.faults()), ...visitor.complaints()])
      found.push(`${language}: ${fault}`);
  }
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
  expect(found).toEqual([]);
});
