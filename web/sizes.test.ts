/** What a browser loads before anybody sees a page, and what each page brings. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunks, kilobytes, loadedFirst, longestWords } from './built.ts';
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
  // Its own and those of refusals; none of them in what everybody loads.
  expect(words).toHaveLength(2);
  expect([...scripts].filter((file) => /\/(en|de)-/.test(file))).toEqual([]);
  expect(kilobytes([...scripts, ...words]), [...scripts].join(' ')).toBeLessThanOrEqual(260);
  expect(kilobytes(styles)).toBeLessThanOrEqual(45);
});

it('is at most 40 kB for each page, but for terminal, screen and charts', () => {
  const pages = chunks();
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.filter(({ size }) => size > 40)).toEqual([]);
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
