import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { runProgram } from '../src/platform/host/program.ts';
import { openBrowser } from '../test/browser.ts';
import { apiClient } from '../test/client.ts';
import { runningVps } from '../test/orders.ts';
import { chunks, kilobytes, loadedFirst, longestWords } from '../web/built.ts';
import { keptOf } from '../web/testbed.ts';
import { type House, root, undo } from './house.ts';
import { interleave, nowMs, ratiosOf, type Spread, spreadOf } from './measure.ts';
import { type Access, fillServices, firstId } from './people.ts';
import type { Figure } from './table.ts';

export interface DashboardOptions {
  rounds: number;
  changes: number;
  searches: number;
  /** Machines of the customer whose pages are opened. */
  services: number;
  builds: number;
  /** Rows of the list that is scrolled from its top to its end. */
  scrolled: number;
}

interface Shop {
  house: House;
  access: Access;
}

/** In so many frames a long list is scrolled from its top to its end. */
const framesDown = 600;
/** So many rows a list shows at first. */
const rows = 50;
const host = 'aaa-measured.example.com';

/** Put into every page before its own scripts: tells when something is on the screen, counted from when it was asked for. */
const watching = `
  window.shown = (isThere) => new Promise((resolve) => {
    const look = () =>
      requestAnimationFrame(() => (isThere() ? requestAnimationFrame(() => resolve(performance.now())) : look()));
    look();
  });
  window.hasRows = () => document.querySelectorAll('table tbody tr a').length >= ${rows};
  // What the server has painted is taken away when the scripts have drawn the same: only then they answer.
  window.answers = () => window.hasRows() && document.querySelector('.painted') === null;
  window.hasLink = () => document.querySelector('table tbody tr a') !== null;
  window.hasMachine = () =>
    document.querySelector('main h1')?.textContent?.includes(${JSON.stringify(host)}) === true &&
    document.querySelector('main section') !== null &&
    document.querySelector('main [aria-busy=true], main .mantine-Skeleton-root') === null;
`;

/** What a customer waits for in a browser. */
export async function measureDashboard(shop: Shop, options: DashboardOptions): Promise<Figure[]> {
  const { house, access } = shop;
  const { customer, staff, products } = house.demo;
  const client = apiClient(`${house.url}/api`, {
    token: customer.api_key,
    organizationId: customer.organization_id,
  });
  const staffClient = apiClient(`${house.url}/api`, { token: staff.api_key });
  const [owner] = (
    await access.sql('select user_id from memberships where organization_id = $1', [customer.organization_id])
  ).rows;
  const { serviceId } = await runningVps({ demo: house.demo }, client, { domain: host });
  await fillServices(
    access,
    { id: customer.organization_id, userId: Number(owner?.user_id) },
    { count: options.services, firstServiceId: firstId, product: products.hosting },
  );
  await access.sql('vacuum analyze');
  const browser = await openBrowser();
  undo.push(() => browser.close());
  const url = house.url.replace('127.0.0.1', 'localhost');
  const windows = { browser, url, kept: await signedIn(house, url, Number(owner?.user_id)) };
  const figures = [
    ...sizes(),
    await cold(windows, options.rounds),
    await byClick(windows, serviceId, options.rounds),
    await live(windows, { client, staff: staffClient }, options.changes),
    await palette(windows, options),
    await building(options.builds),
    await scrolling(windows, options, () =>
      fillServices(
        access,
        { id: customer.organization_id, userId: Number(owner?.user_id) },
        {
          count: options.scrolled - options.services,
          firstServiceId: firstId + options.services,
          product: products.hosting,
        },
      ),
    ),
  ];
  await browser.close();
  return figures;
}

interface Windows {
  browser: Browser;
  url: string;
  kept: NonNullable<BrowserContextOptions['storageState']>;
}

/** What the browser of the demonstration's customer keeps once they have signed in. */
async function signedIn(house: House, url: string, userId: number): Promise<Windows['kept']> {
  const { email, password, organization_id: organizationId } = house.demo.customer;
  const answer = await fetch(`${house.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const token = /__Host-innkeeper=([^;]+)/.exec(answer.headers.getSetCookie().join('\n'))?.[1];
  if (token === undefined) throw new Error(`signing in answered ${answer.status}`);
  return keptOf({ url }, { token, userId, organizationId, scheme: 'light' });
}

/** Opens a window that has loaded nothing yet, and closes it when the work is done. */
async function inWindow<Result>(
  { browser, url, kept }: Windows,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({
    ...{ baseURL: url, storageState: kept, locale: 'en-GB' },
    viewport: { width: 1440, height: 900 },
  });
  try {
    await context.addInitScript(watching);
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

async function openUntil(page: Page, where: string, isThere: string): Promise<number> {
  await page.goto(where, { waitUntil: 'commit' });
  return until(page, `window.shown(window.${isThere})`);
}

/** The list of services, once the scripts have drawn it anew where the server had painted it: only then it answers to keys. */
async function openList(page: Page): Promise<void> {
  await openUntil(page, '/services', 'hasRows');
  await page.locator('.painted').waitFor({ state: 'detached' });
}

const patienceMs = 30_000;

/** A number that the page promises; what it shows instead when that does not come. */
async function until(page: Page, promised: string): Promise<number> {
  const asked = page.evaluate(promised) as Promise<number>;
  const given = await Promise.race([asked, pause(patienceMs, null)]);
  if (given !== null) return given;
  asked.catch(() => undefined);
  const text = (await page.evaluate('document.body.innerText')) as string;
  throw new Error(`${page.url()} does not show it: ${text.slice(0, 600)}`);
}

function sizes(): Figure[] {
  const { scripts, styles } = loadedFirst();
  const figure = (name: string, value: number, atMost: number, amounts: string): Figure => ({
    ...{ name, against: 'as sent, gzip', value: spreadOf([value]), unit: 'kB', target: { atMost }, amounts },
    limit: 'the libraries that pages stand on',
  });
  const [largest = { file: 'none', size: Number.NaN }, ...others] = chunks();
  const words = longestWords();
  return [
    figure(
      'Dashboard: scripts of the first load',
      kilobytes([...scripts, ...words]),
      260,
      `${kilobytes(words).toFixed(0)} kB of it words, in the longer language`,
    ),
    figure('Dashboard: styles of the first load', kilobytes(styles), 45, `${styles.length} file`),
    figure(
      'Dashboard: the largest page',
      largest.size,
      40,
      `${path.basename(largest.file).replace(/-[\w-]+\.js$/, '')}; of ${others.length + 1} the middle one is ${(others[Math.floor(others.length / 2)]?.size ?? 0).toFixed(1)} kB`,
    ),
  ];
}

/**
 * The list of services, and the same rows as a page that is nothing but them: until somebody can read them. When what is clicked
 * is done as well is said beside it.
 */
async function cold(windows: Windows, rounds: number): Promise<Figure> {
  const table = await inWindow(windows, async (page) => {
    await openUntil(page, '/services', 'hasRows');
    return (await page.evaluate("document.querySelector('table').outerHTML")) as string;
  });
  const plain = await servePlain(table);
  const answered: number[] = [];
  const pairs = await interleave(
    rounds,
    () =>
      inWindow(windows, async (page) => {
        const painted = await openUntil(page, '/services', 'hasRows');
        answered.push(await until(page, 'window.shown(window.answers)'));
        return painted;
      }),
    () => inWindow(windows, (page) => openUntil(page, plain, 'hasRows')),
  );
  const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.theirs)].map(spreadOf);
  const answers = spreadOf(answered).median;
  return {
    name: 'Dashboard: services painted with their data, cold',
    against: 'the same rows as plain HTML',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atMost: 3.5 },
    amounts: `${inMs(ours, theirs)}; its scripts answer after ${answers.toFixed(0)} ms, ${(answers / (theirs?.median ?? Number.NaN)).toFixed(1)} times`,
    limit: 'styles of all pages, and drawing the page when it is asked for',
  };
}

const inMs = (ours: Spread | undefined, theirs: Spread | undefined) =>
  `${ours?.median.toFixed(0)} ms against ${theirs?.median.toFixed(0)}`;

async function servePlain(table: string): Promise<string> {
  const page = gzipSync(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Rows</title><style>table{width:100%;border-collapse:collapse}td,th{padding:.65rem .75rem;text-align:start;border-bottom:1px solid #ddd}</style><main>${table}</main></html>`,
  );
  const server = createServer((_, answer) =>
    answer
      .writeHead(200, {
        'content-type': 'text/html',
        'content-encoding': 'gzip',
        'cache-control': 'no-store',
      })
      .end(page),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

/** A machine's page from the list that is open, and the same page in a window that has loaded nothing. */
async function byClick(windows: Windows, serviceId: number, rounds: number): Promise<Figure> {
  const where = `/services/${serviceId}`;
  const click = () =>
    inWindow(windows, async (page) => {
      await openUntil(page, '/services?search=aaa', 'hasLink');
      // A stream of news is never done; what the page asked for besides is.
      await pause(500);
      await page.evaluate(`
        // Nothing is answered here: a promise would be waited for before the page is touched.
        void (window.took = new Promise((resolve) => addEventListener('click', () => {
          const began = performance.now();
          void window.shown(window.hasMachine).then((at) => resolve(at - began));
        }, { capture: true, once: true })))`);
      await page.locator(`main a[href$="${where}"]`).click();
      return until(page, 'window.took');
    });
  const pairs = await interleave(rounds, click, () =>
    inWindow(windows, (page) => openUntil(page, where, 'hasMachine')),
  );
  const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.theirs)].map(spreadOf);
  return {
    name: 'Dashboard: a machine’s page by a click',
    against: 'the same page, cold',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atMost: 0.4 },
    amounts: inMs(ours, theirs),
    limit: 'the page’s own script, and what it asks for',
  };
}

/** From the moment in which staff sends an answer until the customer, whose ticket is open, has it on the screen. */
async function live(
  windows: Windows,
  { client, staff }: Record<'client' | 'staff', ReturnType<typeof apiClient>>,
  changes: number,
): Promise<Figure> {
  const draft = { subject: 'Measured', department: 'support', priority: 'low', message: 'Hello' };
  const { tid } = (await client.post('/dashboard/tickets/create', draft)).body.data.ticket;
  const took = await inWindow(windows, async (page) => {
    const streaming = page.waitForResponse('**/api/dashboard/events**');
    await page.goto(`/tickets/${tid}`);
    await streaming;
    await page.getByText('Hello', { exact: true }).waitFor();
    const all: number[] = [];
    // The first ones are slower: their code is not compiled yet.
    for (let nth = -2; nth < changes; nth += 1) {
      const words = `Answer ${nth + 3} of this bench.`;
      const shown = until(
        page,
        `window.shown(() => document.querySelector('main').textContent.includes(${JSON.stringify(words)}))
          .then((at) => performance.timeOrigin + at)`,
      );
      await pause(50);
      const began = performance.timeOrigin + performance.now();
      const { status } = await staff.post(`/staff/tickets/${tid}/replies`, { message: words });
      if (status !== 200) throw new Error(`answering gave ${status}`);
      const at = await shown;
      if (nth >= 0) all.push(at - began);
      await pause(100);
    }
    return all;
  });
  const sorted = took.toSorted((one, other) => one - other);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
  return {
    name: 'Dashboard: staff’s answer sent → on the customer’s screen, p95',
    against: 'the clock',
    value: { median: p95, min: sorted[0] ?? p95, max: sorted.at(-1) ?? p95 },
    unit: 'ms',
    target: { atMost: 250 },
    amounts: `median ${spreadOf(took).median.toFixed(0)} ms of ${took.length}`,
    limit: 'news is gathered for a tenth of a second, and then read',
  };
}

/** From the last key to the machine that is named by what was typed, among so many. */
async function palette(windows: Windows, { searches, services }: DashboardOptions): Promise<Figure> {
  const took = await inWindow(windows, async (page) => {
    await openList(page);
    const all: number[] = [];
    for (let nth = -2; nth < searches; nth += 1) {
      const name = `web${1_000 + (((nth + 2) * 89) % (services - 1_000))}.example.com`;
      await page.keyboard.press('Control+k');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.type(name.slice(0, -1));
      await pause(300);
      await page.evaluate(`
        // Nothing is answered here: a promise would be waited for before the page is touched.
        void (window.took = new Promise((resolve) => addEventListener('keydown', () => {
          const began = performance.now();
          void window.shown(() => document.querySelectorAll('[role=option]').length === 1 &&
            document.querySelector('[role=option] span').textContent === ${JSON.stringify(name)} &&
            performance.getEntriesByType('resource').some(({ name: asked, startTime }) => startTime > began && asked.endsWith(${JSON.stringify(`q=${name}`)}))
          ).then((at) => resolve(at - began));
        }, { capture: true, once: true })))`);
      await page.keyboard.press(name.slice(-1));
      const ms = await until(page, 'window.took');
      if (nth >= 0) all.push(ms);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    return all;
  });
  return {
    name: `Dashboard: Ctrl K, last key → what is found among ${services.toLocaleString('en')} machines`,
    against: 'the clock',
    value: spreadOf(took),
    unit: 'ms',
    target: { atMost: 100 },
    amounts: `${took.length} times`,
    limit: 'it waits whether more is typed',
  };
}

/** Goes down the whole page in so many frames, and says how long each of them took. */
const goDown = `(async () => {
  scrollTo(0, 0);
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let nth = 0; nth < 30; nth += 1) await frame();
  const step = (document.documentElement.scrollHeight - innerHeight) / ${framesDown};
  const took = [];
  let before = await frame();
  for (let nth = 1; nth <= ${framesDown}; nth += 1) {
    scrollTo(0, nth * step);
    const now = await frame();
    took.push(now - before);
    before = now;
  }
  return took;
})()`;

/** A list that is as long as this, scrolled down, and a page of the same height with nothing in it. */
async function scrolling(
  windows: Windows,
  { rounds, scrolled }: DashboardOptions,
  fill: () => Promise<unknown>,
): Promise<Figure> {
  await fill();
  const p95 = (took: readonly number[]) =>
    took.toSorted((one, other) => one - other)[Math.ceil(took.length * 0.95) - 1] ?? Number.NaN;
  return inWindow(windows, async (page) => {
    await openList(page);
    const began = nowMs();
    const more = page.getByRole('button', { name: 'Show more' });
    await more.click();
    await page.locator('tbody tr').nth(60).waitFor();
    await more.click();
    await page.locator('tbody tr[data-index]').first().waitFor();
    // The rest is read by scrolling, as people do.
    await page.evaluate(`new Promise((resolve) => {
      const look = () => {
        scrollTo(0, document.documentElement.scrollHeight);
        const count = Number(document.querySelector('table').getAttribute('aria-rowcount'));
        if (count > 0) resolve(count);
        else setTimeout(look, 10);
      };
      look();
    })`);
    const readS = (nowMs() - began) / 1_000;
    const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
    const empty = await page.context().newPage();
    await empty.setContent(`<!doctype html><title>Empty</title><div style="height:${height}px"></div>`);
    const pairs = await interleave(
      rounds,
      async () => {
        await page.bringToFront();
        return p95((await page.evaluate(goDown)) as number[]);
      },
      async () => {
        await empty.bringToFront();
        return p95((await empty.evaluate(goDown)) as number[]);
      },
    );
    const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.theirs)].map(spreadOf);
    return {
      name: `Dashboard: ${scrolled.toLocaleString('en')} rows scrolled in ${framesDown} frames, p95 frame`,
      against: 'a page of the same height with nothing in it',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atMost: 2 },
      amounts: `${ours?.median.toFixed(1)} ms against ${theirs?.median.toFixed(1)}; read in ${readS.toFixed(0)} s`,
      limit: 'each frame draws other rows',
    };
  });
}

async function building(builds: number): Promise<Figure> {
  const took: number[] = [];
  for (let nth = 0; nth < builds; nth += 1) {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'innkeeper-bench-build-'));
    undo.push(() => rm(dir, { recursive: true, force: true }));
    const vite = path.join(root, 'node_modules/vite/bin/vite.js');
    const began = nowMs();
    await runProgram([process.execPath, vite, 'build', 'web', '--outDir', dir, '--logLevel', 'warn'], {
      cwd: root,
      timeoutMs: 300_000,
    });
    took.push((nowMs() - began) / 1_000);
  }
  return {
    name: 'Dashboard: built from its sources',
    against: 'the clock',
    value: spreadOf(took),
    unit: 's',
    target: { atMost: 10 },
    amounts: `${took.length} times`,
    limit: 'finding out what belongs into which file',
  };
}
