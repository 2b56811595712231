import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { vi } from 'vitest';
import { type Door, openBrowser, openDoor } from '../test/browser.ts';
import { startTestProduct, type TestOptions, type TestProduct, until } from '../test/product.ts';

/** The product with its dashboard, at an address that a browser keeps sessions for, and a browser. */
export interface Bed {
  product: TestProduct;
  url: string;
  door: Pick<Door, 'shut' | 'unshut'>;
  open(options?: BrowserContextOptions): Promise<Visitor>;
  /** Closes every window: each holds a stream, and a person may have so many. */
  closeWindows(): Promise<void>;
  close(): Promise<void>;
}

/** Somebody's own browser window. */
export interface Visitor {
  page: Page;
  /** What the browser complained of since the last look: scripts, policies, answers that it did not like. */
  complaints(): string[];
  /** Rules of WCAG 2.2 A and AA that what is shown breaks, and whether it has to be moved sideways. */
  faults(): Promise<string[]>;
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export async function openBed({ env, ...options }: TestOptions = {}): Promise<Bed> {
  const door = await openDoor(() => product.url);
  const product = await startTestProduct({
    ...options,
    env: { PUBLIC_URL: door.url, DASHBOARD: 'on', ...env },
  });
  const browser = await browserOfProcess();
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  return {
    product,
    url: door.url,
    door,
    async open(options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', baseURL: door.url, ...options });
      const page = await context.newPage();
      const heard: string[] = [];
      page.on('pageerror', ({ message }) => heard.push(message));
      page.on('console', (line) => {
        // Others that test beside us make and remove interfaces, and the browser begins its connections anew.
        if (line.text().includes('net::ERR_NETWORK_CHANGED')) return;
        if (['error', 'warning'].includes(line.type())) heard.push(line.text());
      });
      return {
        page,
        complaints: () => heard.splice(0),
        faults: async () => {
          if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
          const broken = (await page.evaluate(
            `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
              violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' at ' + target.join(' '))))`,
          )) as string[];
          const wide = (await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )) as number;
          return wide > 0 ? [...broken, `${wide} pixels too wide`] : broken;
        },
      };
    },
    closeWindows: () => closeWindows(browser),
    async close() {
      await closeWindows(browser);
      await product.stop();
      await door.close();
    },
  };
}

let opened: Promise<Browser> | null = null;

/** One for all files of a process, which run one after another: a window is a person of its own, and a start takes a second. */
async function browserOfProcess(): Promise<Browser> {
  if (opened !== null && (await opened).isConnected()) return opened;
  const opening = openBrowser();
  opened = opening;
  // One that did not start is no answer to the next file, which may have more room.
  opening.catch(() => {
    opened = null;
  });
  return opening;
}

async function closeWindows(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) await context.close();
}

/** The server paints nothing for this window until its scripts have shown a page again: they ask for all of it. */
export const forgetShown = (page: Page) => page.context().clearCookies({ name: 'innkeeper-shown' });

/** Signs the demonstration's customer in by typing, as people do. */
export async function signIn({ product }: Bed, { page }: Visitor, where = '/'): Promise<void> {
  await page.goto(where);
  await signInAs(page, product.demo.customer);
  // On a phone it is there, and not shown.
  await page.locator('nav').first().waitFor({ state: 'attached' });
}

/** Types what somebody signs in by into the page that asks for it. */
export async function signInAs(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel(/^E-?[Mm]ail/).fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[type=submit]').click();
}

/** Guests do not shut down from now on, until the function that is returned is called. */
export function holdShutdowns({ product: { hypervisor } }: Bed): () => void {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const shutdown = hypervisor.shutdown.bind(hypervisor);
  const held = vi.spyOn(hypervisor, 'shutdown').mockImplementation(async (...given) => {
    await released;
    return shutdown(...given);
  });
  return () => {
    held.mockRestore();
    resolve();
  };
}

/** The link of the newest mail of its kind that went to an address. */
export async function linkIn(
  { product }: { product: Pick<TestProduct, 'staff'> },
  email: string,
  event: string,
): Promise<string> {
  const ofKind = (each: { event: string }) => each.event === event;
  const { body } = await until(
    () => product.staff.get(`/staff/mails?limit=100&recipient=${encodeURIComponent(email)}`),
    (answer) => answer.body.data.mails.some(ofKind),
  );
  const { id } = body.data.mails.find(ofKind);
  const { body: mail } = await product.staff.get(`/staff/mails/${id}`);
  return /https?:\S+token=\S+/.exec(mail.data.mail.body)?.[0] ?? 'there is no link';
}

/** Credit for the organization of whoever has registered. */
export async function grantCredit({ staff }: Pick<TestProduct, 'staff'>, email: string): Promise<void> {
  const { body: found } = await staff.get(`/staff/users?search=${encodeURIComponent(email)}`);
  const { body } = await staff.get(`/staff/organizations?user_id=${found.data.users[0].id}`);
  const [{ id }] = body.data.organizations;
  const given = { amount: '50.00', currency: 'EUR', description: 'To begin with' };
  const { status, body: answer } = await staff.post(`/staff/organizations/${id}/credit`, given);
  if (status !== 200) throw new Error(`no credit: ${JSON.stringify(answer)}`);
}

interface Kept {
  token: string;
  userId: number;
  organizationId?: number;
  /** Where pages were shown before, and in which colours; the server paints none without. */
  scheme?: 'light' | 'dark';
}

/** What the browser of somebody who is signed in keeps, for a window that opens as theirs. */
export function keptOf(
  { url }: Pick<Bed, 'url'>,
  { token, userId, organizationId, scheme }: Kept,
): NonNullable<BrowserContextOptions['storageState']> {
  const { hostname: domain, origin } = new URL(url);
  const cookie = { name: '__Host-innkeeper', value: token, domain, path: '/', expires: -1 };
  return {
    cookies: [
      { ...cookie, httpOnly: true, secure: true, sameSite: 'Lax' },
      ...(organizationId === undefined || scheme === undefined
        ? []
        : [
            {
              ...{ ...cookie, name: 'innkeeper-shown', value: `${organizationId}-${scheme}` },
              ...{ httpOnly: false, secure: false, sameSite: 'Lax' as const },
            },
          ]),
    ],
    origins: [
      {
        origin,
        localStorage: [
          { name: 'innkeeper.signed-in', value: String(userId) },
          ...(organizationId === undefined
            ? []
            : [{ name: 'innkeeper.organization', value: String(organizationId) }]),
        ],
      },
    ],
  };
}
