/** A long list in a real browser: read as one scrolls, drawn where one looks, and kept true. */

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { sql } from '../test/sql.ts';
import { type Bed, openBed, signIn, type Visitor } from './testbed.ts';

const many = 600;
const firstId = 1_000_000_000_000;
const nameOf = (nth: number) => `web${nth}.example.com`;

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
  const { customer, products } = bed.product.demo;
  await sql(
    bed.product,
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       domain, cycle, currency, first_price_minor, price_minor, duedate, options, holds_stock, created_at)
     select $1::bigint + i, $2, 1000 + i, (select user_id from memberships where organization_id = $2 limit 1), $3, 1, 'active',
       'done', 'web' || i || '.example.com', 'monthly', 'EUR', 400, 400, '2030-01-01',
       '{"option1": 1, "option2": 10, "option3": 1, "option4": 1, "option6": "tiny", "option8": "AMS"}', false, now() - i * interval '1 second'
     from generate_series(1, $4::bigint) i`,
    ...[firstId, customer.organization_id, products.hosting, many],
  );
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const note = (nth: number, text: string) =>
  bed.product.customer.patch(`/dashboard/services/${firstId + nth}/note`, { note: text });

/** Opens the list and scrolls until all of it has been read. */
async function openAll(): Promise<Visitor> {
  const visitor = await bed.open();
  const { page } = visitor;
  const streaming = page.waitForResponse('**/api/dashboard/events**');
  const forLong: string[] = [];
  page.on('request', (request) => {
    if (/ManyRows-[\w-]+\.js/.test(request.url())) forLong.push(request.url());
  });
  await signIn(bed, visitor, '/services');
  await streaming;
  const more = page.getByRole('button', { name: 'Show more' });
  const rows = page.locator('tbody tr:not(.gap)');
  await expect.poll(() => rows.count()).toBe(50);
  // What draws long lists is loaded for them alone.
  expect(forLong).toEqual([]);
  await more.click();
  await expect.poll(() => rows.count()).toBe(100);
  await more.click();
  // The rest comes by scrolling alone.
  await expect
    .poll(
      async () => {
        await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
        return page.getByRole('table').getAttribute('aria-rowcount');
      },
      { timeout: 60_000 },
    )
    .toBe(String(many + 1));
  expect(forLong).toHaveLength(1);
  return visitor;
}

const bottom = 'window.scrollTo(0, document.documentElement.scrollHeight)';

/** Goes to a share of the list, and waits until its rows are drawn there. Says the number of the first one in sight. */
async function goTo(page: Page, share: number): Promise<number> {
  const firstInSight = `(window.scrollTo(0, document.documentElement.scrollHeight * ${share}),
    [...document.querySelectorAll('tbody tr[aria-rowindex]')].find((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    })?.getAttribute('aria-rowindex') ?? -1000)`;
  let first = 0;
  await expect
    .poll(async () => {
      first = Number(await page.evaluate(firstInSight));
      return Math.abs(first - share * many);
    })
    .toBeLessThan(many * 0.1);
  return first;
}

it('is read as one scrolls, draws no more rows than are in sight, and each stands at its place', async () => {
  const { page, complaints, faults } = await openAll();
  const rows = page.locator('tbody tr:not(.gap)');
  await page.evaluate(bottom);
  await page
    .getByText(nameOf(1), { exact: true })
    .or(page.getByText(nameOf(many), { exact: true }))
    .waitFor();
  expect(await rows.count()).toBeLessThan(100);
  await expect.poll(() => rows.last().getAttribute('aria-rowindex')).toBe(String(many + 1));
  await goTo(page, 0.5);
  expect(await rows.count()).toBeLessThan(100);
  // On a phone rows are cards with a line below each, but for the last, below which the list ends with its own.
  await page.setViewportSize({ width: 320, height: 640 });
  const linesBelow = `[...document.querySelectorAll('tbody tr[aria-rowindex]')].map((row) =>
    row.getAttribute('aria-rowindex') === '${many + 1}' ? 'last ' + getComputedStyle(row).borderBottomWidth : getComputedStyle(row).borderBottomWidth)`;
  await expect
    .poll(async () => {
      await page.evaluate(bottom);
      return [...new Set((await page.evaluate(linesBelow)) as string[])];
    })
    .toEqual(['1px', 'last 0px']);
  expect(await faults()).toEqual([]);
  expect(complaints()).toEqual([]);
}, 120_000);

it('keeps what was chosen and what has the focus, however far one scrolls', async () => {
  const { page } = await openAll();
  await goTo(page, 0);
  const choose = page.locator('tbody tr[aria-rowindex="7"] input[type=checkbox]');
  await choose.check();
  // Each row has two places to stop at: thirty rows further.
  for (let key = 0; key < 60; key += 1) await page.keyboard.press('Tab');
  const indexOfFocus = () =>
    page.evaluate("document.activeElement.closest('tr')?.getAttribute('aria-rowindex') ?? 'none'");
  expect(await indexOfFocus()).toBe('37');
  await goTo(page, 0.9);
  expect(await indexOfFocus()).toBe('37');
  await page.keyboard.press('Tab');
  expect(await indexOfFocus()).toBe('37');
  await goTo(page, 0);
  expect(await choose.isChecked()).toBe(true);
}, 120_000);

it('shows what happens to rows in sight at once, to others when they come into sight, with few requests', async () => {
  const { page } = await openAll();
  await page.evaluate(bottom);
  await expect
    .poll(() => page.locator('tbody tr[aria-rowindex]').last().getAttribute('aria-rowindex'))
    .toBe(String(many + 1));
  const last = await page.locator('tbody tr .row-link').last().innerText();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/dashboard/services') asked.push(request.url());
  });
  const nth = Number(/\d+/.exec(last)?.[0]);
  const middle = nth > many / 2 ? 250 : 350;
  await note(middle, 'Far away');
  await note(nth, 'At hand');
  await page.getByText('At hand').waitFor();
  // The first page and those in sight, for each time that something was told.
  expect(asked.length).toBeLessThanOrEqual(8);
  const place = nth > many / 2 ? middle : many - middle;
  await expect
    .poll(
      async () => {
        await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight * ${place / many})`);
        return page.getByText('Far away').count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
}, 120_000);

it('reads on for whoever asks for more while it is read anew', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const streaming = page.waitForResponse('**/api/dashboard/events**');
  await signIn(bed, visitor, '/services');
  await streaming;
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const list = /\/api\/dashboard\/services\?/;
  await page.route(list, async (route) => {
    await released;
    await route.continue();
  });
  const again = page.waitForRequest(list);
  await note(1, 'Read anew');
  await again;
  await page.getByRole('button', { name: 'Show more' }).click();
  release();
  await expect.poll(() => rows.count()).toBe(100);
});

it('is at the same place for whoever comes back to it', async () => {
  const { page } = await openAll();
  const first = await goTo(page, 0.5);
  const link = page.locator(`tbody tr[aria-rowindex="${first + 5}"] .row-link`);
  const name = await link.innerText();
  await link.click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name, exact: true }).waitFor();
  await expect
    .poll(() =>
      page.evaluate(
        `[...document.querySelectorAll('.row-link')].filter((each) => each.textContent === ${JSON.stringify(name)})
          .map((each) => each.getBoundingClientRect().top).some((top) => top > -60 && top < innerHeight + 60)`,
      ),
    )
    .toBe(true);
}, 120_000);
