/** What is shown as done before the answer has come, and taken back in sight when it is refused. */
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const refused = {
  status: 409,
  json: {
    ...{ success: false, error: 'Conflict', code: 'conflict', details: [] },
    ...{ message: 'Not now', request_id: 'r-ahead' },
  },
};

/** Holds the next change, until it is refused or let through. */
async function hold(page: Page, path: string) {
  const { promise: decided, resolve: decide } = Promise.withResolvers<'refuse' | 'pass'>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  await page.route(
    ({ pathname }) => pathname.startsWith(`/api${path}`),
    async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      ask();
      return (await decided) === 'refuse' ? route.fulfill(refused) : route.continue();
    },
  );
  return { asked, decide };
}

/** Does something that is refused, and again, when it is not. */
async function twice(
  page: Page,
  path: string,
  act: () => Promise<void>,
  before: () => Promise<void>,
  after: () => Promise<void>,
) {
  for (const how of ['refuse', 'pass'] as const) {
    await before();
    const held = await hold(page, path);
    await act();
    await held.asked;
    // The answer has not come.
    await after();
    held.decide(how);
    if (how === 'refuse') await page.getByRole('alert').first().waitFor();
    else await after();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
}

it('an SSH key that is removed', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const name = `gone ${randomBytes(4).toString('hex')}`;
  const key = `ssh-ed25519 ${Buffer.concat([Buffer.from('0000000b7373682d6564323535313900000020', 'hex'), randomBytes(32)]).toString('base64')}`;
  await bed.product.customer.post('/dashboard/account/ssh-keys', { name, public_key: key });
  await signIn(bed, visitor, '/developers/ssh-keys');
  const row = page.getByRole('row', { name });
  await twice(
    page,
    '/dashboard/account/ssh-keys',
    async () => {
      await row.getByRole('button').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    },
    () => row.waitFor(),
    () => row.waitFor({ state: 'detached' }),
  );
  const names = async () =>
    JSON.stringify((await bed.product.customer.get('/dashboard/account/ssh-keys')).body);
  await expect.poll(names).not.toContain(name);
});

it('a webhook that is paused', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const hook = { url: 'https://hooks.example.com/ahead', description: '' };
  const { body } = await bed.product.customer.post('/dashboard/webhooks', hook);
  const { id } = body.data.webhook;
  await signIn(bed, visitor, `/developers/webhooks/${id}`);
  const [pause, resume] = ['Pause', 'Resume'].map((name) => page.getByRole('button', { name, exact: true }));
  await twice(
    page,
    '/dashboard/webhooks',
    async () => pause?.click(),
    async () => pause?.waitFor(),
    async () => resume?.waitFor(),
  );
  const status = async () =>
    (await bed.product.customer.get(`/dashboard/webhooks/${id}`)).body.data.webhook.status;
  await expect.poll(status).toBe('paused');
});

it('an answer to a ticket, which stays in its field until it has come', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const first = { subject: 'Ahead', department: 'support', priority: 'low', message: 'The first of two' };
  const { body } = await bed.product.customer.post('/dashboard/tickets/create', first);
  const { tid } = body.data.ticket;
  await signIn(bed, visitor, `/tickets/${tid}`);
  const field = page.getByRole('textbox', { name: 'Message' });
  const said = page.getByRole('listitem').filter({ hasText: 'The second of two' });
  await twice(
    page,
    '/dashboard/tickets/',
    async () => {
      await field.fill('The second of two');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    },
    async () => {
      await page.getByText('The first of two').waitFor();
      expect(await said.count()).toBe(0);
    },
    () => said.waitFor(),
  );
  await expect.poll(() => field.inputValue()).toBe('');
  expect(await said.count()).toBe(1);
});

it('a ticket that staff closes, and a coupon that staff ends', async () => {
  const { page } = await bed.openStaff();
  const first = { subject: 'Ahead', department: 'support', priority: 'low', message: 'Close me' };
  const { body } = await bed.product.customer.post('/dashboard/tickets/create', first);
  await page.goto(`/staff/tickets/${body.data.ticket.tid}`);
  const [close, reopen] = ['Close it', 'Open it again'].map((name) =>
    page.getByRole('button', { name, exact: true }),
  );
  await twice(
    page,
    '/staff/tickets/',
    async () => close?.click(),
    async () => close?.waitFor(),
    async () => reopen?.waitFor(),
  );
  const code = `AHEAD${randomBytes(3).toString('hex')}`;
  const coupon = { code, percent: 10, recurring: false };
  expect((await bed.product.staff.post('/staff/coupons', coupon)).status).toBe(200);
  await page.goto('/staff/coupons');
  const end = page
    .getByRole('row', { name: code.toUpperCase() })
    .getByRole('button', { name: 'End', exact: true });
  await twice(
    page,
    '/staff/coupons',
    async () => {
      await end.click();
      await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    },
    async () => expect.poll(() => end.getAttribute('aria-disabled')).toBeNull(),
    async () => expect.poll(() => end.getAttribute('aria-disabled')).toBe('true'),
  );
});

it('a coupon whose end is only shown as code, which ends nothing', async () => {
  const { page } = await bed.openStaff();
  const code = `SHOWN${randomBytes(3).toString('hex')}`.toUpperCase();
  const made = await bed.product.staff.post('/staff/coupons', { code, percent: 10, recurring: false });
  const { id } = made.body.data.coupon;
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  const isActive = async () => (await bed.product.staff.get(`/staff/coupons/${id}`)).body.data.coupon.active;
  await page.goto('/staff/coupons');
  await page.getByRole('row', { name: code }).getByRole('button', { name: 'End', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'End' });
  await dialog.getByRole('button', { name: 'Show the API call' }).click();
  const shown = page.getByRole('dialog').locator('pre').first();
  await expect.poll(() => shown.innerText()).toContain(`/api/staff/coupons/${id}/end`);
  expect(sent).toEqual([]);
  expect(await isActive()).toBe(true);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await shown.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'End', exact: true }).click();
  await expect.poll(isActive).toBe(false);
  expect(sent).toEqual([`/api/staff/coupons/${id}/end`]);
});
