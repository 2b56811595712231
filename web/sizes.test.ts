/** What a browser loads before anybody sees a page, and what each page brings. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunks, kilobytes, loadedFirst, longestWords, read } from './built.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
// Starting it builds what is measured.
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed?.close());

it('is at most 260 kB of scripts and 45 kB of styles', () => {
  const { scripts, styles } = loadedFirst();
  expect(scripts.size).toBeGreaterThan(0);
  expect(styles.length).toBeGreaterThan(0);
  const words = longestWords();
  // Those of refusals with them; none in what everybody loads.
  expect(words).toHaveLength(1);
  expect([...scripts].filter((file) => /\/(en|de)-/.test(file))).toEqual([]);
  expect(kilobytes([...scripts, ...words]), [...scripts].join(' ')).toBeLessThanOrEqual(260);
  expect(kilobytes(styles)).toBeLessThanOrEqual(45);
});

it('is read by browsers of some years ago: what they cannot parse, they load nothing of', () => {
  for (const file of loadedFirst().scripts) expect(read(file), file).not.toMatch(/\(\?<[=!]/);
});

it('is at most 40 kB for each page, but for terminal, screen and charts', () => {
  const pages = chunks();
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.filter(({ size }) => size > 40)).toEqual([]);
});

it('asks for what it shows while its scripts are on their way, and for nothing twice', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/services');
  const shown = page.getByText('No services yet.');
  await shown.waitFor();
  const ask = async (where: string, list: RegExp) => {
    const asked: string[] = [];
    const isAsked = page.waitForRequest(list);
    // All but the first script is not there before that was asked for.
    await page.route(/\/assets\/first-[\w-]+\.js/, async (route) => {
      await isAsked;
      await route.continue();
    });
    // News that was missed would have all read anew; none is told here.
    await page.route('**/api/dashboard/events**', () => new Promise(() => undefined));
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/api/') && pathname !== '/api/dashboard/events') asked.push(pathname + search);
    });
    await page.goto(where);
    await shown.waitFor();
    page.removeAllListeners('request');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // Between what is asked for first and knowing who it is.
    const tookMs = (await page.evaluate(`
      Math.max(...performance.getEntriesByType('resource').filter(({ name }) => /account|organizations/.test(name)).map((each) => each.responseEnd)) -
      performance.getEntriesByType('resource').find(({ name }) => name.includes('/api/')).startTime`)) as number;
    return { asked, tookMs };
  };
  for (const [where, list] of [
    ['/services', /services\?limit/],
    ['/', /attention/],
  ] as const) {
    let answer = await ask(where, list);
    // On a busy machine that may take so long that the list has to be asked for again.
    for (let tries = 0; answer.tookMs > 1_000 && tries < 5; tries += 1) answer = await ask(where, list);
    expect(answer.asked.length).toBeGreaterThan(3);
    expect(answer.asked).toEqual([...new Set(answer.asked)]);
  }
  expect(visitor.complaints()).toEqual([]);
});

it('is styled once: nothing that concerns all of it comes after it was drawn', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await page.addInitScript(`
    window.styles = [];
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes)
        for (const { nodeName, textContent } of addedNodes)
          if (target === document.head && nodeName === 'STYLE') window.styles.push(textContent);
    }).observe(document, { childList: true, subtree: true });`);
  await signIn(bed, visitor, '/services');
  await page.getByText('No services yet.').waitFor();
  const streaming = page.waitForResponse('**/api/dashboard/events**');
  await page.reload();
  await page.getByText('No services yet.').waitFor();
  // Followed once it is there, by what is done after it was drawn.
  await streaming;
  expect(await page.evaluate('window.styles')).toEqual([]);
  // Who asks for another theme has it at once.
  await bed.product.customer.post('/dashboard/account/preferences', { theme: 'dark' });
  await page.reload();
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' });
  await bed.product.customer.post('/dashboard/account/preferences', { theme: 'system' });
  await page.reload();
  await page.locator('html[data-mantine-color-scheme=light]').waitFor({ state: 'attached' });
});

it('is compressed once and kept for a year, and a page whose script is gone is loaded anew', async () => {
  const [script = ''] = loadedFirst().scripts;
  const answer = await fetch(`${bed.product.url}/${script}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  expect(answer.headers.get('cache-control')).toContain('immutable');
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  let isOld = true;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) isOld = false;
  });
  // As after an update: this tab asks for a script that is there no longer, however often it does.
  await page.route(/\/assets\/Invoices-[\w-]+\.js/, (route) =>
    isOld ? route.fulfill({ status: 404, json: {} }) : route.continue(),
  );
  const loaded = page.waitForEvent('load');
  await page.getByRole('link', { name: 'Billing' }).click();
  await loaded;
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
});
