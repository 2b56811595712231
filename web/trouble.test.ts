/** What goes wrong under an open page: each ends in a sentence that a customer understands, and in the right state. */
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn, type Visitor } from './testbed.ts';

let bed: Bed;
let id: number;
beforeAll(async () => {
  bed = await openBed();
  ({ serviceId: id } = await runningVps(bed.product, bed.product.customer, {
    domain: 'trouble.example.com',
  }));
});
afterEach(async () => {
  bed.door.unshut();
  await bed.closeWindows();
});
afterAll(() => bed?.close());

const old = 'No connection. What you see may be old';

async function openAt(where: string, heading: string, script = ''): Promise<Visitor> {
  const visitor = await bed.open();
  await visitor.page.addInitScript(script);
  await signIn(bed, visitor, where);
  await visitor.page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return visitor;
}

/** A subject that no other try of a test has. */
const named = (subject: string) => `${subject} ${randomBytes(4).toString('hex')}`;

const unreached = (page: Page) =>
  page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' });

const goTo = (page: Page, place: string) =>
  page.getByRole('navigation').first().getByRole('link', { name: place, exact: true }).click();

async function typeTicket(page: Page, subject: string): Promise<void> {
  await page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
  await page.getByLabel('Subject').fill(subject);
  await page.getByRole('textbox', { name: 'Message' }).fill('It was typed with care.');
}

const typed = (page: Page) => page.getByRole('textbox', { name: 'Message' }).inputValue();

async function newTicket(subject: string): Promise<void> {
  const draft = { subject, department: 'support', priority: 'low', message: 'Hello' };
  expect((await bed.product.customer.post('/dashboard/tickets/create', draft)).status).toBe(200);
}

async function countTickets(subject: string): Promise<number> {
  const { body } = await bed.product.customer.get('/dashboard/tickets?limit=100');
  return body.data.tickets.filter((each: { subject: string }) => each.subject === subject).length;
}

describe('when nobody answers any more', () => {
  it('an open page says so, and reads what it could not read as soon as somebody answers, untouched', async () => {
    const [first, second] = [named('Read before'), named('Read only later')];
    await newTicket(first);
    await newTicket(second);
    const { page } = await openAt('/tickets', 'Tickets');
    await page.getByRole('link', { name: first, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: first }).waitFor();
    await goTo(page, 'Tickets');
    bed.door.shut();
    await page.getByText(old).waitFor();
    await page.getByRole('link', { name: second, exact: true }).click();
    await unreached(page).waitFor();
    bed.door.unshut();
    await page.getByRole('heading', { level: 1, name: second }).waitFor();
    await page.getByText(old).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('a page whose script is not here says so in its place, and comes once somebody answers', async () => {
    // Whatever the browser believes of the network: it may see none where there is a tunnel.
    const blind = `Object.defineProperty(navigator, 'onLine', { get: () => false })`;
    const { page } = await openAt('/tickets', 'Tickets', blind);
    await page.evaluate('window.isSame = true');
    bed.door.shut();
    await goTo(page, 'Billing');
    await unreached(page).waitFor();
    await goTo(page, 'Tickets');
    await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
    await goTo(page, 'Billing');
    await unreached(page).waitFor();
    bed.door.unshut();
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    expect(await page.evaluate('window.isSame')).toBe(true);
  });

  it('a page comes also where its words did not at first', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    let asked = 0;
    await page.route(/\/assets\/en-[\w-]+\.js/, (route) => {
      asked += 1;
      return asked <= 2 ? route.abort() : route.continue();
    });
    await page.goto('/sign-in');
    await page.getByLabel('E-mail address').waitFor();
    expect(asked).toBeGreaterThan(2);
  });

  it('what was typed stays, and is sent once when it is sent again', async () => {
    const { page } = await openAt('/tickets/new', 'New ticket');
    const subject = named('Sent to nobody');
    await typeTicket(page, subject);
    bed.door.shut();
    await page.getByRole('button', { name: 'Send' }).click();
    await unreached(page).waitFor();
    expect(await typed(page)).toBe('It was typed with care.');
    bed.door.unshut();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { level: 1, name: subject }).waitFor();
    expect(await countTickets(subject)).toBe(1);
  });
});

describe('what is loaded only when it is wanted', () => {
  it('takes nothing of what was typed away when it cannot be loaded, and comes with a later press', async () => {
    const { page } = await openAt('/tickets/new', 'New ticket');
    await typeTicket(page, named('Typed before'));
    bed.door.shut();
    await page.getByRole('button', { name: 'Show the API call' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('region', { name: 'TypeScript' }).waitFor();
    expect(await dialog.getByRole('region').count()).toBe(2);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const account = page.getByTitle('Account', { exact: true });
    await account.click();
    await unreached(page).waitFor();
    expect(await typed(page)).toBe('It was typed with care.');
    bed.door.unshut();
    await account.click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await unreached(page).waitFor({ state: 'detached' });
    expect(await typed(page)).toBe('It was typed with care.');
  });

  it('leaves a list where it is when what is done with several of it cannot be loaded', async () => {
    const { page } = await openAt('/services', 'Services');
    const row = page.getByRole('checkbox').first();
    await row.waitFor();
    bed.door.shut();
    await row.check();
    await unreached(page).first().waitFor();
    expect(await row.isChecked()).toBe(true);
    bed.door.unshut();
    await unreached(page).first().getByRole('button').click();
    await page.getByText('Chosen: 1').waitFor();
  });
});

describe('without a network', () => {
  it('what is sent is refused at once, and never done in silence when there is one again', async () => {
    const { page } = await openAt('/tickets/new', 'New ticket');
    await typeTicket(page, 'Sent offline');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Send' }).click();
    await unreached(page).waitFor();
    await goTo(page, 'Billing');
    // Its script comes by itself with the network.
    await page.getByRole('heading', { level: 1, name: 'New ticket' }).waitFor({ state: 'detached' });
    await unreached(page).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    expect(await countTickets('Sent offline')).toBe(0);
  });
});

describe('a change whose result could not be read afterwards', () => {
  it('is made, is said to be made, and is no change of somebody else', async () => {
    const path = '/dashboard/billing/profile';
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/billing/profile');
    const city = page.locator('input[name=city]');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    const seen = async () => (await bed.product.customer.get(path)).body.data.profile.city;
    await city.fill('Steyr');
    let isUnread = true;
    await page.route(`**/api${path}`, (route) =>
      isUnread && route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await save.click();
    await page.getByText('Saved.').waitFor();
    await page.locator('button[data-loading]').waitFor({ state: 'detached' });
    expect([await seen(), await page.locator('form').getByRole('alert').count()]).toEqual(['Steyr', 0]);
    isUnread = false;
    await city.fill('Enns');
    await save.click();
    await expect.poll(seen).toBe('Enns');
  });
});

describe('what somebody else has changed meanwhile', () => {
  const forms = [
    {
      name: 'the buyer',
      where: () => '/billing/profile',
      path: () => '/dashboard/billing/profile',
      field: 'input[name=city]',
      change: (city: string) => ({ city }),
      seen: (data: { profile: { city: string } }) => data.profile.city,
      words: ['Graz', 'Linz', 'Wels'],
    },
    {
      name: 'the settings of a machine',
      where: () => `/services/${id}/settings`,
      path: () => `/dashboard/service/${id}/vps/settings`,
      field: 'input[name=nameservers]',
      change: (server: string) => ({ nameservers: [server] }),
      seen: (data: { settings: { nameservers: string[] } }) => data.settings.nameservers.join(),
      words: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    },
  ] as const;

  it.each(forms)('is not overwritten unseen: $name', async ({ where, path, change, ...form }) => {
    const [theirs = '', mine = '', later = ''] = form.words;
    const seen = async () => form.seen((await bed.product.customer.get(path())).body.data);
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, where());
    const field = page.locator(form.field);
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await field.fill(mine);
    expect((await bed.product.customer.patch(path(), change(theirs))).status).toBe(200);
    await save.click();
    await page.getByText('Somebody changed it since you read it.').waitFor();
    expect([await field.inputValue(), await seen()]).toEqual([mine, theirs]);
    await page.getByRole('button', { name: 'Show what is there now' }).click();
    await page.getByText('Somebody changed it since you read it.').waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe(theirs);
    // One's own changes are known: the next one is none of somebody else's.
    for (const word of [mine, later]) {
      await field.fill(word);
      await save.click();
      await expect.poll(seen).toBe(word);
      await page.getByText('Saved.').waitFor();
    }
  });
});
