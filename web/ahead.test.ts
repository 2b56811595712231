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

const sshKeys = '/dashboard/account/ssh-keys';

async function addSshKey(): Promise<{ id: number; name: string }> {
  const name = `gone ${randomBytes(4).toString('hex')}`;
  const blob = [Buffer.from('0000000b7373682d6564323535313900000020', 'hex'), randomBytes(32)];
  const key = `ssh-ed25519 ${Buffer.concat(blob).toString('base64')}`;
  const { body } = await bed.product.customer.post(sshKeys, { name, public_key: key });
  return { id: body.data.ssh_key.id, name };
}

it('an SSH key that is removed', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const { name } = await addSshKey();
  await signIn(bed, visitor, '/developers/ssh-keys');
  const row = page.getByRole('row', { name });
  await twice(
    page,
    sshKeys,
    async () => {
      await row.getByRole('button').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    },
    () => row.waitFor(),
    () => row.waitFor({ state: 'detached' }),
  );
  const names = async () => JSON.stringify((await bed.product.customer.get(sshKeys)).body);
  await expect.poll(names).not.toContain(name);
});

it('of two SSH keys each that is refused is back and said, whatever becomes of the other', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const keys = [await addSshKey(), await addSshKey()] as const;
  await signIn(bed, visitor, '/developers/ssh-keys');
  const [first, second] = keys.map(({ name }) => page.getByRole('row', { name }));
  const said = page.getByRole('alert').filter({ hasText: 'r-ahead' });
  for (const how of ['refuse', 'pass'] as const) {
    const held = [];
    for (const { id } of keys) held.push(await hold(page, `${sshKeys}/${id}`));
    // What there is cannot be looked at meanwhile.
    await page.route(
      ({ pathname }) => pathname === `/api${sshKeys}`,
      (route) => route.fulfill({ ...refused, json: { ...refused.json, request_id: 'r-unread' } }),
    );
    for (const [at, row] of [first, second].entries()) {
      await row?.getByRole('button').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await row?.waitFor({ state: 'detached' });
      await held[at]?.asked;
    }
    held[0]?.decide('refuse');
    await first?.waitFor();
    await expect.poll(() => said.count()).toBe(1);
    expect(await second?.count()).toBe(0);
    const answered = page.waitForResponse((answer) => answer.url().endsWith(`/ssh-keys/${keys[1].id}`));
    held[1]?.decide(how);
    await answered;
    await expect.poll(() => said.count()).toBe(how === 'refuse' ? 2 : 1);
    if (how === 'refuse') await second?.waitFor();
    expect([await first?.count(), await second?.count()]).toEqual([1, how === 'refuse' ? 1 : 0]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
});

it('what is refused after its page was left, which is said on any other', async () => {
  const visitor = await bed.open({ viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
  const { page } = visitor;
  const { id, name } = await addSshKey();
  await signIn(bed, visitor, '/developers/ssh-keys');
  const row = page.getByRole('row', { name });
  const held = await hold(page, `${sshKeys}/${id}`);
  await row.getByRole('button').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await held.asked;
  await page.getByRole('link', { name: 'API keys', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  held.decide('refuse');
  const said = page.getByRole('alert').filter({ hasText: 'r-ahead' });
  await said.getByText('What you asked for before was not done').waitFor();
  expect(await visitor.faults()).toEqual([]);
  await said.getByRole('link', { name: 'To where you asked for it' }).click();
  await row.waitFor();
  expect(await said.count()).toBe(0);
});

it('but not an API key that is revoked: it stays in sight until it is', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const name = `waits ${randomBytes(4).toString('hex')}`;
  await signIn(bed, visitor, '/developers');
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Make a key', exact: true }).click();
  const row = page.getByRole('row', { name });
  const held = await hold(page, '/dashboard/account/api-keys/');
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await held.asked;
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  expect(await row.count()).toBe(1);
  held.decide('pass');
  await row.waitFor({ state: 'detached' });
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

/** A ticket on its customer's screen. */
async function openTicket() {
  const visitor = await bed.open();
  const { page } = visitor;
  const first = { subject: 'Ahead', department: 'support', priority: 'low', message: 'The first of two' };
  const { body } = await bed.product.customer.post('/dashboard/tickets/create', first);
  const { tid } = body.data.ticket;
  await signIn(bed, visitor, `/tickets/${tid}`);
  return { page, tid };
}

it('an answer to a ticket, which stays in its field until it has come', async () => {
  const { page } = await openTicket();
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

it('an answer that is refused, after which what was written meanwhile is read', async () => {
  const { page, tid } = await openTicket();
  await page.getByText('The first of two').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('The second of two');
  const { promise: reading, resolve: begin } = Promise.withResolvers<void>();
  const held = await hold(page, `/dashboard/tickets/${tid}`);
  // What is being read when the answer is sent is given up for it.
  const slow = ({ pathname }: URL) => pathname === `/api/dashboard/tickets/${tid}`;
  await page.route(slow, (route) => (route.request().method() === 'GET' ? begin() : route.fallback()));
  await bed.product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Written meanwhile' });
  await reading;
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await held.asked;
  await page.getByRole('listitem').filter({ hasText: 'The second of two' }).waitFor();
  await page.unroute(slow);
  held.decide('refuse');
  await page.getByText('Written meanwhile').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('The second of two');
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
