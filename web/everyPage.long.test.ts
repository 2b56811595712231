/**
 * Every page in every state: as it is full, empty, broken, waiting, and opened by somebody who may not; at four widths, in
 * both themes and both languages; and for those who enlarge it twice and have colours of their own. All faults are gathered and told at the end of a state.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember, signedIn, staffHere } from '../test/people.ts';
import { sql } from '../test/sql.ts';
import { allRules, broken, layoutAt, looksEnlarged, rulesOfColour } from './faults.ts';
import { inhabit, samplesOf } from './inhabited.ts';
import { pagesOfServer } from './inhabitedServer.ts';
import { type Bed, forgetShown, keptOf, openBed, type Visitor } from './testbed.ts';

const widths = [2560, 1440, 768, 320] as const;
const languages = ['en', 'de'] as const;
type Language = (typeof languages)[number];
type State = 'full' | 'empty' | 'broken' | 'forbidden' | 'enlarged';
type House = 'open' | 'customer' | 'staff';

interface Look {
  language: Language;
  state: State;
  /** Who opens them; nobody is signed in without. */
  session?: Session;
}

interface Session {
  token: string;
  userId: number;
}

let bed: Bed;
let everyPath: string[] = [];
let staff: Awaited<ReturnType<typeof staffHere>>;

beforeAll(async () => {
  bed = await openBed();
  staff = await staffHere(bed.product, 'administrator');
  const { page } = await bed.open();
  await page.goto('/sign-in');
  await page.getByRole('heading', { level: 1 }).waitFor();
  // The router's own list: what is added to it is looked at.
  everyPath = (await page.evaluate('Object.keys(window.__TSR_ROUTER__.routesByPath)')) as string[];
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const openPaths = new Set([
  ...['/sign-in', '/register', '/forgot-password', '/verify-email', '/reset-password', '/invitation'],
  ...['/confirm-email-change', '/revoke-email-change', '/keep-second-factor', '/ticket-feedback'],
]);
const houseOf = (where: string): House =>
  openPaths.has(where) ? 'open' : where.startsWith('/staff') ? 'staff' : 'customer';

/** The addresses of a house; those of one thing only where it is known which. */
function pagesOf(house: House, samples?: Readonly<Record<string, string>>): string[] {
  const isOfOneThing = (where: string) => where.includes('$');
  return everyPath
    .filter((where) => houseOf(where) === house && (samples !== undefined || !isOfOneThing(where)))
    .map((where) => {
      const [beginning = null] = /^.*\$\w+/.exec(where) ?? [];
      if (beginning === null) return where;
      const sample = samples?.[beginning];
      if (sample === undefined) throw new Error(`web/inhabited.ts has no example for ${beginning}`);
      return where.replace(/\$\w+/, sample);
    });
}

it('knows every page', () => {
  expect(everyPath.length).toBeGreaterThan(80);
  for (const where of openPaths) expect(everyPath).toContain(where);
});

describe.each(languages)('while there is nothing, in %s,', (language) => {
  it.each(['customer', 'staff'] as const)(
    'each page of %s reads, and needs no moving',
    async (house) => {
      const person = await newCustomer(bed.product);
      const session = house === 'staff' ? staff : { ...person, ...(await signedIn(bed.product, person)) };
      expect(await lookAt(pagesOf(house), { language, state: 'empty', session })).toEqual([]);
    },
    900_000,
  );
});

describe('while there is something of everything', () => {
  let samples: Readonly<Record<string, string>>;
  let customer: Session;
  /** A service has other pages where it is a server of its own. */
  let serverPages: string[];
  const allOf = (house: House) => [...pagesOf(house, samples), ...(house === 'customer' ? serverPages : [])];
  beforeAll(async () => {
    expect(await inhabit(bed.product)).toEqual([]);
    samples = await samplesOf(bed.product);
    serverPages = await pagesOfServer(bed.product);
    const { demo } = bed.product;
    const [person] = await sql<{ id: number; email: string }>(
      bed.product,
      'select id, email from users where id = (select user_id from memberships where organization_id = $1 order by joined_at limit 1)',
      demo.customer.organization_id,
    );
    if (person === undefined) throw new Error('nobody owns the organization');
    const here = await signedIn(bed.product, { email: person.email, password: demo.customer.password });
    customer = { token: here.token, userId: person.id };
  });

  it.each(languages)(
    'each page for everybody reads, in %s',
    async (language) => {
      expect(await lookAt(pagesOf('open'), { language, state: 'full' })).toEqual([]);
      const withLink = pagesOf('open').map((where) => `${where}?token=gone`);
      expect(await lookAt(withLink, { language, state: 'full' })).toEqual([]);
      expect(await lookAt(pagesOf('open'), { language, state: 'enlarged' })).toEqual([]);
    },
    900_000,
  );

  describe.each(languages)('in %s', (language) => {
    it.each(['customer', 'staff'] as const)(
      'each page of %s reads, first as it waits',
      async (house) => {
        const session = house === 'staff' ? staff : customer;
        expect(await lookAt(allOf(house), { language, state: 'full', session })).toEqual([]);
      },
      900_000,
    );

    it.each(['customer', 'staff'] as const)(
      'each page of %s says what it cannot read',
      async (house) => {
        const session = house === 'staff' ? staff : customer;
        expect(await lookAt(allOf(house), { language, state: 'broken', session })).toEqual([]);
      },
      900_000,
    );

    it.each(['customer', 'staff'] as const)(
      'each page of %s reads enlarged, in forced colours',
      async (house) => {
        const session = house === 'staff' ? staff : customer;
        expect(await lookAt(allOf(house), { language, state: 'enlarged', session })).toEqual([]);
      },
      900_000,
    );

    it('each page of a customer reads for those who only look on', async () => {
      const { organization_id: id } = bed.product.demo.customer;
      const viewer = await newMember(bed.product, id, 'viewer');
      const session = { ...viewer, ...(await signedIn(bed.product, viewer)) };
      expect(await lookAt(pagesOf('customer', samples), { language, state: 'forbidden', session })).toEqual(
        [],
      );
    }, 900_000);

    it('each page of staff reads for those who may not', async () => {
      const pages = pagesOf('staff', samples);
      // An operator runs what support knows nothing of.
      const running = pages.filter((where) =>
        /nodes|address-pools|images|jobs|mails|shield-(?!attacks)/.test(where),
      );
      const other = pages.filter((where) => !running.includes(where));
      const forbidden = { language, state: 'forbidden' } as const;
      const found = [
        ...(await lookAt(other, { ...forbidden, session: await staffHere(bed.product, 'operator') })),
        ...(await lookAt(running, { ...forbidden, session: await staffHere(bed.product, 'support') })),
      ];
      expect(found).toEqual([]);
    }, 900_000);
  });
});

/** Looks at pages, two at a time, and says what is wrong with them. */
async function lookAt(pages: readonly string[], look: Look): Promise<string[]> {
  const { language, session } = look;
  if (session)
    await sql(bed.product, 'update users set language = $1 where id = $2', language, session.userId);
  const found: string[] = [];
  const queue = [...pages];
  const walk = async () => {
    const visitor = await bed.open({
      locale: language === 'de' ? 'de-DE' : 'en-GB',
      reducedMotion: 'reduce',
      ...(session && { storageState: keptOf(bed, session) }),
      ...(look.state === 'enlarged' && { deviceScaleFactor: 2, forcedColors: 'active' as const }),
    });
    for (let where = queue.shift(); where !== undefined; where = queue.shift()) {
      const faults = await faultsAt(visitor, where, look).catch(({ message }: Error) => [message]);
      for (const fault of faults) found.push(`${look.state} ${language} ${where}: ${fault}`);
    }
    await visitor.page.context().close();
  };
  await Promise.all([walk(), walk()]);
  return found.sort();
}

/** A page that asks for more makes somebody on a slow line wait for the slowest of many. */
const mostAsked = 4;
/** What every window asks for, whatever page it shows: who somebody is, whose name is on it, news. */
const ofWindow = /^\/api\/(dashboard\/(account|organizations|events)|staff\/events|brand)$/;

async function faultsAt(visitor: Visitor, where: string, { state, language }: Look): Promise<string[]> {
  const { page } = visitor;
  const found: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const asked = new Set<string>();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  if (state === 'full' || state === 'broken')
    await page.route(
      ({ pathname }) => pathname.startsWith('/api/') && !ofWindow.test(pathname),
      async (route) => {
        // What an event has read anew is the same once more.
        asked.add(`${route.request().method()} ${route.request().url()}`);
        if (state === 'full') {
          await released;
          return route.continue();
        }
        return language === 'de' ? route.abort() : route.fulfill(brokenAnswer);
      },
    );
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  // What the server paints it has not asked for here; see painted.test.ts.
  await forgetShown(page);
  await page.goto(where);
  if (state === 'full') {
    await page
      .locator('h1, [aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root')
      .first()
      .waitFor();
    await expect
      .poll(() => asked.size, { timeout: 1_500 })
      .toBeGreaterThan(0)
      .catch(() => undefined);
    if (asked.size > 0)
      for (const fault of await looks(page, language === 'en')) found.push(`while it waits: ${fault}`);
    release();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.locator('h1').first().waitFor({ timeout: 20_000 });
  await nothingWaits(page);
  if (state === 'full' && asked.size > mostAsked)
    found.push(`asks for ${asked.size} things: ${[...asked].join(', ')}`);
  if (state === 'broken' && asked.size > 0) {
    // Somebody whom nobody answers is asked again, which takes a moment.
    const alert = page.getByRole('alert').first();
    if (
      !(await alert.waitFor().then(
        () => true,
        () => false,
      ))
    )
      found.push('says nothing');
  }
  if (state === 'enlarged') found.push(...(await looksEnlarged(page)));
  else found.push(...(await looks(page, language === 'en' || state === 'full')));
  if (state === 'full' || state === 'forbidden') {
    const folds = await unfold(page, asked);
    found.push(...folds.found);
    if (folds.opened > 0)
      for (const fault of await looks(page, language === 'en')) found.push(`unfolded: ${fault}`);
  }
  if (shots) await keepPictures(page, `${state}-${language}${where.replaceAll(/[/?=]/g, '-')}`);
  const isExpected =
    state === 'broken' ||
    state === 'forbidden' ||
    where.includes('?token') ||
    // That nobody asked for somebody's factors to be reset is answered by 404, once it is unfolded.
    where.startsWith('/staff/users/');
  for (const complaint of visitor.complaints())
    if (!(isExpected && complaint.startsWith('Failed to load resource'))) found.push(complaint);
  return found;
}

async function nothingWaits(page: Page): Promise<void> {
  await expect
    .poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root').count())
    .toBe(0);
}

/** What is read when a part of a page is unfolded: somebody waits for that once more. */
const mostAskedByFold = 2;

/** Opens all that is folded, as a click does: one after another where something is read, what rows hold all at once. */
async function unfold(page: Page, asked: Set<string>): Promise<{ opened: number; found: string[] }> {
  const found: string[] = [];
  let opened = 0;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  for (;;) {
    asked.clear();
    const names = (await page.evaluate(`(async () => {
      const closed = [...document.querySelectorAll('#content details:not([open]) > summary')];
      const reads = closed.find((each) => each.parentElement.parentElement.localName === 'section');
      const chosen = reads ? [reads] : closed;
      for (const each of chosen) each.click();
      // What is unfolded says so a frame later, and is drawn in another.
      for (let nth = 0; nth < 3; nth += 1) await new Promise((then) => requestAnimationFrame(then));
      return chosen.map((each) => each.innerText);
    })()`)) as string[];
    if (names.length === 0) return { opened, found };
    opened += names.length;
    await nothingWaits(page);
    if (asked.size > mostAskedByFold)
      found.push(`“${names.join()}” asks for ${asked.size} things: ${[...asked].join(', ')}`);
  }
}

/** Where pictures of all pages are kept for somebody who wants to look at them; nowhere without. */
const { WEB_SHOTS: shots } = process.env;

async function keepPictures(page: Page, name: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: `${shots}/${name}-${width}.png`, fullPage: true });
  }
}

const brokenAnswer = {
  status: 500,
  json: {
    ...{ success: false, error: 'Internal Server Error', code: 'internal_error', details: [] },
    ...{ message: 'Something went wrong on our side', request_id: 'r-broken' },
  },
};

/** What is shown now, at every width in both themes; rules of accessibility in opposite corners. */
async function looks(page: Page, withRules: boolean): Promise<string[]> {
  const found = new Set<string>();
  if (withRules) {
    for (const fault of await broken(page, allRules)) found.add(fault);
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const fault of await broken(page, rulesOfColour)) found.add(`dark: ${fault}`);
  }
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === 320 ? 640 : 900 });
    for (const fault of await layoutAt(page)) found.add(`${width}: ${fault}`);
  }
  if (withRules) for (const fault of await broken(page, allRules)) found.add(`narrow, dark: ${fault}`);
  return [...found];
}
