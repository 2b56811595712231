/** What cannot be had at this moment: each ends in a sentence that a customer understands, and goes on afterwards. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import { sql } from '../test/sql.ts';
import { type Bed, holdShutdowns, openBed, signIn, signInAs } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed({ env: { RATE_LIMITS: 'on' } });
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const refusal = (page: Page, words: string | RegExp) => page.getByRole('alert').filter({ hasText: words });

describe('a machine that somebody else is busy with', () => {
  it('says so to whoever does not know yet, and does it once that is over', async () => {
    const { serviceId: id } = await runningVps(bed.product, bed.product.customer, {
      domain: 'busy.example.com',
    });
    const read = async (path: string) =>
      (await bed.product.customer.get(`/dashboard/service/${id}/vps/${path}`)).body.data;
    const visitor = await bed.open();
    const { page } = visitor;
    // What happened is told late.
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    await page.route('**/api/dashboard/events*', async (route) => {
      await told;
      await route.continue();
    });
    await signIn(bed, visitor, `/services/${id}/snapshots`);
    await page.getByText('No snapshots yet.').waitFor();
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('Name');
    await name.fill('before-the-change');
    const release = holdShutdowns(bed);
    expect((await bed.product.customer.post(`/dashboard/service/${id}/vps/stop`, {})).status).toBe(200);
    const take = dialog.getByRole('button', { name: 'Take a snapshot' });
    await take.click();
    await refusal(page, 'Another action is running on this machine.').waitFor();
    expect(await name.inputValue()).toBe('before-the-change');
    expect((await read('snapshots')).snapshots).toEqual([]);
    tell();
    release();
    await expect.poll(async () => (await read('overview')).vps.current_action).toBeNull();
    await take.click();
    await page.getByText('Ready').waitFor();
    expect(await refusal(page, 'Another action').count()).toBe(0);
    expect((await read('snapshots')).snapshots).toMatchObject([
      { name: 'before-the-change', state: 'ready' },
    ]);
  });
});

describe('a database that is away', () => {
  /** Lets nobody in and sends away who is, as when the server is started anew; the function that is returned lets in again. */
  async function takeAway(): Promise<() => Promise<void>> {
    const [found] = await sql<{ name: string }>(bed.product, 'select current_database() as name');
    const name = found?.name ?? '';
    const { url, applicationUrl } = inject('postgres');
    const allow = (isAllowed: boolean) => run(url, `alter database ${name} allow_connections ${isAllowed}`);
    await allow(false);
    // A role ends what is its own.
    for (const role of new Set([url, applicationUrl]))
      await run(
        role,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and usename = current_user`,
      );
    return () => allow(true);
  }

  async function run(url: string, statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  it('is said where somebody writes, nothing typed is lost, and it is sent once when it is back', async () => {
    const subject = `Sent to a database ${randomBytes(4).toString('hex')}`;
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets/new');
    await page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
    await page.getByLabel('Subject').fill(subject);
    await page.getByRole('textbox', { name: 'Message' }).fill('It was typed with care.');
    const bringBack = await takeAway();
    const unavailable = refusal(page, 'A part of the service is not available right now.');
    try {
      await page.getByRole('button', { name: 'Send' }).click();
      await unavailable.waitFor();
    } finally {
      await bringBack();
    }
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('It was typed with care.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { level: 1, name: subject }).waitFor();
    const { body } = await bed.product.customer.get(
      `/dashboard/tickets?search=${encodeURIComponent(subject)}`,
    );
    expect(body.data.tickets).toHaveLength(1);
  });

  it('is said in place of what it keeps, which is there when somebody looks again', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets');
    await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
    const bringBack = await takeAway();
    const unavailable = refusal(page, 'A part of the service is not available right now.');
    try {
      await page.getByRole('navigation').first().getByRole('link', { name: 'Billing', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
      await unavailable.waitFor();
    } finally {
      await bringBack();
    }
    // Where the stream had to be opened anew it is read by itself.
    const again = page.getByRole('button', { name: 'Try again' });
    await again.click({ timeout: 5_000 }).catch(() => undefined);
    await page.getByRole('table').getByRole('link').first().waitFor();
    await unavailable.waitFor({ state: 'detached' });
  });
});

describe('too often in a short time', () => {
  // The last one of this file: every address is the same here.
  it('is said with how long it takes, and then it goes on with what was typed', async () => {
    const { email, password } = await newCustomer(bed.product);
    for (let time = 0; time < 10; time += 1)
      await bed.product.nobody.post('/auth/login', { email, password: 'somebody guesses' });
    const { page } = await bed.open();
    await page.goto('/services');
    await signInAs(page, { email, password });
    await refusal(page, 'That was too often in a short time. Wait 15 minutes, then try again.').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    expect(await page.locator('input[name=password]').inputValue()).toBe(password);
    // Limits go by the clock of the machine.
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 15 * 60_000);
    try {
      await page.locator('button[type=submit]').click();
      await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    } finally {
      later.mockRestore();
    }
  });
});
