/** Pages that the server paints, so that people read them before their scripts are there. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from '../test/orders.ts';
import { newCustomer, signedIn, staffHere } from '../test/people.ts';
import { until } from '../test/product.ts';
import { sql } from '../test/sql.ts';
import { type Bed, keptOf, openBed, type Visitor } from './testbed.ts';

const hostile = `</script><img src=x onerror="document.title=1"> style="color:red" {{nonce}} $& `;
const asPage = { accept: 'text/html' };

let bed: Bed;
let owner: { token: string; userId: number; organizationId: number };
let serviceId: number;
beforeAll(async () => {
  bed = await openBed();
  const { product } = bed;
  ({ serviceId } = await runningVps(product, product.customer, { domain: 'read.example.com' }));
  await product.customer.patch(`/dashboard/services/${serviceId}/note`, { note: hostile });
  const { customer } = product.demo;
  const { token } = await signedIn(product, customer);
  const [{ user_id: userId } = { user_id: 0 }] = await sql<{ user_id: number }>(
    product,
    'select user_id from memberships where organization_id = $1 order by joined_at limit 1',
    customer.organization_id,
  );
  owner = { token, userId, organizationId: customer.organization_id };
  // The first one has it begin.
  await isPainting();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const cookiesOf = ({ token, organizationId }: { token: string; organizationId: number }, scheme = 'light') =>
  `__Host-innkeeper=${token}; innkeeper-shown=${organizationId}-${scheme}`;

async function fetched(cookie: string, where = '/services', init: RequestInit = {}) {
  const answer = await fetch(`${bed.url}${where}`, { ...init, headers: { ...asPage, cookie } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Where the host is busy a page comes unpainted, and for some seconds those after it. */
const isPainting = () =>
  until(
    async () => (await fetched(cookiesOf(owner))).text,
    (text) => text.includes('read.example.com'),
  );

/** Opens the page as it is painted, which is asked for until it is. */
async function goToPainted(page: Page): Promise<void> {
  const isPainted = async () => {
    await page.goto('/services', { waitUntil: 'commit' });
    const painted = page.locator('.painted').waitFor({ state: 'attached', timeout: 5_000 });
    return painted.then(
      () => true,
      () => false,
    );
  };
  await until(isPainted, Boolean);
}

async function openPainted(options: Parameters<Bed['open']>[0] = {}): Promise<Visitor> {
  return bed.open({ storageState: keptOf(bed, { ...owner, scheme: 'light' }), ...options });
}

/** What draws the page is on its way, until the function that is returned is called. */
async function holdScripts(page: Page): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/assets\/first.*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

it('is read without any script, with links that lead on, and nothing in it is more than text', async () => {
  const visitor = await openPainted({ javaScriptEnabled: false });
  const { page } = visitor;
  await goToPainted(page);
  const row = page.getByRole('row').filter({ hasText: 'read.example.com' });
  await row.getByText('</script><img src=x').waitFor();
  expect(await row.getByRole('link').getAttribute('href')).toBe(`/services/${serviceId}`);
  expect(await page.locator('img, #root script').count()).toBe(0);
  expect(visitor.complaints()).toEqual([]);
});

it('stands where its scripts draw it again, looks the same, and asks for nothing of it', async () => {
  const visitor = await openPainted();
  const { page } = visitor;
  const release = await holdScripts(page);
  const asked: string[] = [];
  await isPainting();
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/services', { waitUntil: 'commit' });
  await page.getByRole('link', { name: 'read.example.com' }).waitFor();
  const places = () =>
    page.evaluate(`[...document.querySelectorAll('h1, nav a, th, td, input, select, main a')].map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      const { color, backgroundColor, fontSize, fontWeight } = getComputedStyle(one);
      return [one.localName, one.textContent, x, y, width, height, color, backgroundColor, fontSize, fontWeight].join(' ');
    })`);
  // As soon as its styles are there.
  await page.evaluate('new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))');
  expect(await page.locator('.painted').count()).toBe(1);
  const before = await places();
  const news = page.waitForRequest('**/api/dashboard/events**');
  release();
  await news;
  expect(await page.locator('.painted').count()).toBe(0);
  expect(await places()).toEqual(before);
  expect(asked.filter((each) => each.startsWith('/api/') && !each.endsWith('/events'))).toEqual([]);
  expect(visitor.complaints()).toEqual([]);
});

it.each((['light', 'dark'] as const).flatMap((scheme) => [320, 1440].map((width) => ({ scheme, width }))))(
  'is for everybody before any script has run: $scheme, $width pixels',
  async ({ scheme, width }) => {
    const visitor = await bed.open({
      storageState: keptOf(bed, { ...owner, scheme }),
      colorScheme: scheme,
      viewport: { width, height: 900 },
    });
    const { page } = visitor;
    await holdScripts(page);
    await goToPainted(page);
    await page.getByRole('link', { name: 'read.example.com' }).waitFor();
    expect(await visitor.faults()).toEqual([]);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background === 'rgb(255, 255, 255)').toBe(scheme === 'light');
    // It was looked at as it was painted.
    expect(await page.locator('.painted').count()).toBe(1);
  },
);

it('loses nothing that somebody types before its scripts are there', async () => {
  const { page } = await openPainted();
  const release = await holdScripts(page);
  await goToPainted(page);
  await page.getByRole('searchbox').fill('nothing has this name');
  release();
  await page.waitForURL('**/services?search=nothing*');
  await page.getByText('No service matches').waitFor();
  expect(await page.getByRole('searchbox').inputValue()).toBe('nothing has this name');
  expect(await page.evaluate('document.activeElement.type')).toBe('search');
});

it.each([
  { what: 'Ctrl K', by: (page: Page) => page.keyboard.press('Control+k'), shows: '[role=combobox]:focus' },
  {
    what: 'a click',
    by: (page: Page) => page.locator('.painted [aria-haspopup=menu]').first().click(),
    shows: '[role=menu]',
  },
])('does once its scripts are there what somebody wanted before by $what', async ({ by, shows }) => {
  const visitor = await openPainted();
  const { page } = visitor;
  const release = await holdScripts(page);
  await goToPainted(page);
  await page.getByRole('link', { name: 'read.example.com' }).waitFor();
  // All but the first script, which remembers it, run only once the page is on the screen.
  await page.locator('script[src*="/assets/first"]').waitFor({ state: 'attached' });
  await by(page);
  expect(await page.locator(shows).count()).toBe(0);
  release();
  await page.locator(shows).waitFor();
  expect(await page.locator('.painted').count()).toBe(0);
  expect(visitor.complaints()).toEqual([]);
});

it('shows what happens between its painting and its scripts', async () => {
  const { page } = await openPainted();
  const release = await holdScripts(page);
  await goToPainted(page);
  await page.getByRole('link', { name: 'read.example.com' }).waitFor();
  await orderVps(bed.product, bed.product.customer, { domain: 'meanwhile.example.com' });
  release();
  await page.getByRole('link', { name: 'meanwhile.example.com' }).waitFor();
});

it('leaves nothing in the window of whoever signs out', async () => {
  const leaving = await signedIn(bed.product, bed.product.demo.customer);
  const { page } = await openPainted({
    storageState: keptOf(bed, { ...owner, token: leaving.token, scheme: 'light' }),
  });
  const answer = await page.goto('/services');
  expect(await answer?.text()).toContain('read.example.com');
  await page.getByRole('button', { name: 'Ada Novak' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  const window = await page.content();
  for (const theirs of ['read.example.com', bed.product.demo.customer.email])
    expect(window).not.toContain(theirs);
});

it("is one person's alone, in their language and theme, and no more than the API says to them", async () => {
  const painted = (scheme: string, begins: string) =>
    until(
      () => fetched(cookiesOf(owner, scheme)),
      (answer) => answer.text.includes(begins),
    );
  await sql(bed.product, "update users set language = 'en' where id = $1", owner.userId);
  const { text, headers } = await painted('dark', '<html lang="en" data-mantine-color-scheme="dark">');
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(headers.get('content-security-policy')).not.toContain('unsafe');
  expect(text.match(/ style="/g)).toBeNull();
  await sql(bed.product, "update users set language = 'de' where id = $1", owner.userId);
  await painted('light', '<html lang="de"');
  await sql(bed.product, "update users set language = 'en' where id = $1", owner.userId);
  const other = await newCustomer(bed.product);
  const stranger = { ...other, ...(await signedIn(bed.product, other)) };
  // Of somebody else, and of nobody: it was begun and is never painted.
  for (const cookie of [
    cookiesOf({ ...stranger, organizationId: owner.organizationId }),
    cookiesOf({ ...owner, token: 'gone' }),
  ]) {
    const blank = await fetched(cookie);
    expect([blank.status, blank.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(blank.text).not.toContain('read.example.com');
    expect(blank.text).toContain('<div id="root"></div>');
  }
  // Of a browser that has shown nothing.
  for (const cookie of [
    `innkeeper-shown=${owner.organizationId}-light`,
    `__Host-innkeeper=${owner.token}`,
    `__Host-innkeeper=${owner.token}; innkeeper-shown=1 or 1-light`,
  ]) {
    const plain = await fetched(cookie);
    expect([plain.status, plain.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(plain.text).not.toContain('read.example.com');
    expect(plain.text).toContain('<div id="root"></div>');
  }
  // Where there is more than what is shown at first, and to who wants no page.
  for (const where of ['/services?status=active', '/', '/billing'])
    expect((await fetched(cookiesOf(owner), where)).text).not.toContain('read.example.com');
  expect(
    (await fetched(cookiesOf(owner), '/services', { method: 'HEAD' })).headers.get('cache-control'),
  ).toBe('no-cache');
});

it('is not painted for staff, who may act as somebody in one tab of several', async () => {
  const staff = await staffHere(bed.product, 'administrator');
  await sql(
    bed.product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', now())`,
    ...[owner.organizationId, staff.userId],
  );
  const { text } = await fetched(cookiesOf({ ...staff, organizationId: owner.organizationId }));
  expect(text).not.toContain('read.example.com');
});
