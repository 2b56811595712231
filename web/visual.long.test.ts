/**
 * How the dashboard looks: a few pages, three odd brands among them, held against pictures that somebody has looked at.
 * `npm run pictures` takes them anew. Another browser or another font draws other letters, so with those there is nothing
 * to hold them against, and the run says so.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { chromiumProgram } from '../test/browser.ts';
import { newInvoice } from '../test/invoices.ts';
import { orderVps, runningVps } from '../test/orders.ts';
import { signedIn, staffHere } from '../test/people.ts';
import { settled, sql } from '../test/sql.ts';
import { type Bed, keptOf, openBed } from './testbed.ts';

const place = path.join(import.meta.dirname, 'visual');
const aboutFile = path.join(place, 'drawnBy.json');
/** Where what differs is kept for whoever looks. */
const differing = path.join(import.meta.dirname, '../var/visual');
const isNew = process.env.INNKEEPER_PICTURES === 'new';

interface DrawnBy {
  browser: string;
  font: string;
}

/** What here decides how letters look. */
function drawnHere(): DrawnBy {
  const said = (program: string, ...args: string[]) =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const fonts = drawnIn.map((family) => said('fc-match', family));
  return { browser: said(chromiumProgram, '--version'), font: fonts.join('; ') };
}

/** What fonts of brands end in, where a system has none of those that they name before. */
const drawnIn = ['system-ui', 'serif', 'sans-serif'];

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, locale: 'de-DE' };
const light = { colorScheme: 'light' } as const;
const dark = { colorScheme: 'dark' } as const;

/** Colours that hardly read, corners and fonts at their ends. */
const brands = {
  yellow: { company: { colour: '#ffd400' }, brand: { font: 'serif', radius: 24 } },
  black: { company: { colour: '#101010' }, brand: { font: 'rounded', radius: 0 } },
  magenta: { company: { colour: '#ff00ff' }, brand: { font: 'humanist', radius: 12 } },
} as const;
const usual = { company: { colour: '#1b4965' }, brand: { font: 'system', radius: 8 } };

interface Picture {
  name: string;
  where: string;
  who: 'nobody' | 'customer' | 'staff';
  window: BrowserContextOptions;
  brand?: keyof typeof brands;
}

const pictures: Picture[] = [
  {
    name: 'sign-in-yellow',
    where: '/sign-in',
    who: 'nobody',
    window: { ...phone, ...light },
    brand: 'yellow',
  },
  { name: 'sign-in-black', where: '/sign-in', who: 'nobody', window: { ...phone, ...dark }, brand: 'black' },
  {
    name: 'services-magenta',
    where: '/services',
    who: 'customer',
    window: { ...wide, ...light },
    brand: 'magenta',
  },
  { name: 'order-yellow', where: '/order', who: 'customer', window: { ...phone, ...dark }, brand: 'yellow' },
  { name: 'overview', where: '/', who: 'customer', window: { ...wide, ...light } },
  { name: 'overview-phone', where: '/', who: 'customer', window: { ...phone, ...dark } },
  { name: 'billing', where: '/billing', who: 'customer', window: { ...wide, ...dark } },
  { name: 'tickets-phone', where: '/tickets', who: 'customer', window: { ...phone, ...light } },
  { name: 'members', where: '/organization/members', who: 'customer', window: { ...wide, ...light } },
  { name: 'staff-products', where: '/staff/products', who: 'staff', window: { ...wide, ...dark } },
];

let bed: Bed;
const kept: Partial<Record<Picture['who'], ReturnType<typeof keptOf>>> = {};
beforeAll(async () => {
  // A day of its own: what is shown of days is the same whenever the pictures are taken.
  bed = await openBed({ startsAt: new Date('2026-03-02T09:00:00Z') });
  const { customer, demo } = bed.product;
  await runningVps(bed.product, customer, { domain: 'web1.example.com' });
  await runningVps(bed.product, customer, { domain: 'mail.example.com' });
  await orderVps(bed.product, customer, { domain: 'new.example.com' });
  await newInvoice(bed.product, customer);
  // Without a name it shows its number, and how wide that is decides where columns stand.
  await sql(bed.product, "update services set domain = 'shop.example.com' where domain is null");
  for (const subject of ['The network is slow', 'A question about my invoice'])
    await customer.post('/dashboard/tickets/create', {
      ...{ subject, department: 'support', priority: 'high', message: 'Hello' },
    });
  const here = await signedIn(bed.product, demo.customer);
  const { user } = (await here.get('/dashboard/account')).body.data;
  kept.customer = keptOf(bed, { token: here.token, userId: user.id });
  kept.staff = keptOf(bed, await staffHere(bed.product, 'administrator'));
  await settled(bed.product);
  await sql(
    bed.product,
    'update organizations set name = $1 where id = $2',
    'Novak & Daughters',
    demo.customer.organization_id,
  );
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it.for(pictures)('$name looks as it did', async (picture, { skip }) => {
  const { name } = picture;
  const here = drawnHere();
  const known = existsSync(aboutFile) ? (JSON.parse(await readFile(aboutFile, 'utf8')) as DrawnBy) : null;
  if (!isNew && (known?.browser !== here.browser || known.font !== here.font))
    skip(
      `the pictures are of ${known?.browser} with ${known?.font}, here is ${here.browser} with ${here.font}`,
    );
  const taken = await take(picture);
  const file = path.join(place, `${name}.png`);
  if (isNew) {
    await mkdir(place, { recursive: true });
    await writeFile(file, taken);
    await writeFile(aboutFile, `${JSON.stringify(here, null, 2)}\n`);
    return;
  }
  const { page } = await bed.open();
  const share = await differenceOf(page, await readFile(file), taken);
  if (share > mostDiffering) {
    await mkdir(differing, { recursive: true });
    await writeFile(path.join(differing, `${name}.png`), taken);
  }
  expect(share, `see var/visual/${name}.png; "npm run pictures" keeps it as it is now`).toBeLessThanOrEqual(
    mostDiffering,
  );
});

async function take({ where, who, window, brand }: Picture): Promise<Buffer> {
  const { staff } = bed.product;
  const set = await staff.patch('/staff/settings', brand === undefined ? usual : brands[brand]);
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  const language = window.locale?.slice(0, 2) ?? 'en';
  await sql(bed.product, 'update users set language = $1', language);
  const storageState = kept[who];
  const { page } = await bed.open({
    ...{ locale: 'en-GB', reducedMotion: 'reduce', ...window },
    ...(storageState && { storageState }),
  });
  await page.goto(where);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
  let last = await shotOf(page);
  const isSame = async () => {
    const before = last;
    last = await shotOf(page);
    return last.equals(before);
  };
  await expect.poll(isSame).toBe(true);
  return last;
}

/** A picture in which what is different each time is covered: moments, addresses, numbers that nobody chose. */
function shotOf(page: Page): Promise<Buffer> {
  return page.screenshot({
    animations: 'disabled',
    caret: 'hide',
    mask: [/\d\d:\d\d/, /\d+\.\d+\.\d+\.\d+/, /([a-z]\d){4}|\d{12}/].map((words) => page.getByText(words)),
    maskColor: '#808080',
  });
}

/** A point differs when a colour of it does by so much, of 255. */
const noticeable = 24;
/** So much of a picture may differ before somebody looks at it: letters are never drawn quite alike. */
const mostDiffering = 0.002;

/** The share of points that differ, all of them where the sizes do. The browser itself reads the pictures. */
async function differenceOf(page: Page, known: Buffer, taken: Buffer): Promise<number> {
  const urls = [known, taken].map((each) => `data:image/png;base64,${each.toString('base64')}`);
  return (await page.evaluate(`(async () => {
    const [known, taken] = await Promise.all(${JSON.stringify(urls)}.map(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      return { width, height, points: context.getImageData(0, 0, width, height).data };
    }));
    if (known.width !== taken.width || known.height !== taken.height) return 1;
    let differing = 0;
    for (let at = 0; at < known.points.length; at += 4)
      for (let colour = 0; colour < 3; colour += 1)
        if (Math.abs(known.points[at + colour] - taken.points[at + colour]) > ${noticeable}) {
          differing += 1;
          break;
        }
    return differing / (known.points.length / 4);
  })()`)) as number;
}
