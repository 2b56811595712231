/** What a browser loads before anybody sees a page, and what each page brings. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
// Starting it builds what is measured.
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed?.close());

const built = path.join(import.meta.dirname, '../dist/dashboard');
const read = (file: string) => readFileSync(path.join(built, file), 'utf8');
const kilobytes = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(built, file))).length, 0) / 1_000;

/** A script and all that it cannot begin without. */
function withImports(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const [, name = ''] of read(file).matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    withImports(`assets/${name}`, known);
  return known;
}

function loadedFirst() {
  const page = read('index.html');
  const scripts = [...page.matchAll(/(?:src|href)="\/(assets\/[\w.-]+\.js)"/g)].map(([, file = '']) => file);
  const styles = [...page.matchAll(/href="\/(assets\/[\w.-]+\.css)"/g)].map(([, file = '']) => file);
  const all = new Set<string>();
  for (const script of scripts) withImports(script, all);
  return { scripts: all, styles };
}

/** The words of a language, which are loaded with the first page; those of the longer one. */
function longestWords(): string[] {
  const files = readdirSync(path.join(built, 'assets')).map((file) => `assets/${file}`);
  const words = ['en', 'de'].map((language) =>
    files.filter((file) => file.startsWith(`assets/${language}-`) && file.endsWith('.js')),
  );
  const [longest = []] = words.sort((one, other) => kilobytes(other) - kilobytes(one));
  return longest;
}

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
  const { scripts } = loadedFirst();
  const pages = readdirSync(path.join(built, 'assets'))
    .map((file) => `assets/${file}`)
    .filter((file) => file.endsWith('.js') && !scripts.has(file));
  expect(pages.length).toBeGreaterThan(5);
  const large = pages.map((file) => ({ file, size: kilobytes([file]) })).filter(({ size }) => size > 40);
  expect(large.filter(({ file }) => !/xterm|novnc|rfb|uplot|chart|serial|screen/i.test(file))).toEqual([]);
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
