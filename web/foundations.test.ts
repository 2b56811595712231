/** What every page stands on: who asks, in which words things are refused, whose name is on it, where things are. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

describe('a page that is loaded', () => {
  it('is painted once what it shows is there, however long it would wait for it', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/services');
    await page.addInitScript(`{
      const own = window.setTimeout;
      window.setTimeout = (work, ms, ...given) => (ms === 500 ? 0 : own(work, ms, ...given));
    }`);
    await page.goto('/tickets/new');
    await page.getByLabel('Subject').waitFor();
  });

  it('reads ahead the scripts of the page that is opened next', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    const domain = `ahead-${randomBytes(4).toString('hex')}.example.com`;
    await runningVps({ demo: bed.product.demo }, bed.product.customer, { domain });
    const parts = ['Service', 'ServiceOverview'];
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, name = ''] = /\/assets\/(\w+)-[^/]*\.js$/.exec(request.url()) ?? [];
      if (parts.includes(name)) asked.push(name);
    });
    await signIn(bed, visitor, '/services');
    await expect.poll(() => asked.toSorted()).toEqual(parts);
    // Nobody answers for a script any more, and the page is there all the same.
    await page.route('**/assets/Service*.js', (route) => route.abort());
    await page.getByRole('link', { name: domain }).click();
    await page.getByRole('heading', { level: 1, name: domain }).waitFor();
    await page.getByRole('heading', { name: 'Connect' }).waitFor();
    expect(asked).toHaveLength(2);
  });
});

describe('who asks', () => {
  it('proves again who they are where they are, and what they asked for goes on', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/account/security');
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    bed.product.clock.travel(11 * 60_000);
    await page.getByRole('button', { name: 'Set up' }).click();
    const asked = page.getByRole('dialog', { name: 'Is it you?' });
    await asked.waitFor();
    expect(await visitor.faults()).toEqual([]);
    await asked.locator('input[name=password]').fill('not my password');
    await asked.getByRole('button', { name: 'Go on' }).click();
    await asked.getByRole('alert').waitFor();
    await asked.locator('input[name=password]').fill(bed.product.demo.customer.password);
    await asked.getByRole('button', { name: 'Go on' }).click();
    await asked.waitFor({ state: 'detached' });
    await page.getByLabel('Code').waitFor();
  });

  it('is told why nothing happens, when they do not prove it', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/account/security');
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    bed.product.clock.travel(11 * 60_000);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Set up' }).waitFor();
  });

  it('signs in again above what they wrote when their session has ended, and it is sent once', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    const { email, password } = bed.product.demo.customer;
    await signIn(bed, visitor, '/tickets/new');
    const word = randomBytes(6).toString('hex');
    await page.getByLabel('Subject').fill(`Written before the session ended ${word}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('All of this stays.');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Send' }).click();
    const asked = page.getByRole('dialog', { name: 'Sign in' });
    expect(await asked.getByLabel('E-mail address').inputValue()).toBe(email);
    await asked.locator('input[name=password]').fill(password);
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(/\/tickets\/(?!new)/);
    const { body } = await bed.product.customer.get(`/dashboard/tickets?search=${word}`);
    expect(body.data.tickets.map(({ subject }: { subject: string }) => subject)).toEqual([
      `Written before the session ended ${word}`,
    ]);
  });

  it('has what they wrote when the page is loaded anew, until it is sent, and leaves nothing when they sign out', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets/new');
    const subject = page.getByLabel('Subject');
    const message = page.getByRole('textbox', { name: 'Message' });
    await subject.fill('Written twice');
    await message.fill('Once is enough.');
    await page.reload();
    await subject.waitFor();
    await expect.poll(() => subject.inputValue()).toBe('Written twice');
    expect(await message.inputValue()).toBe('Once is enough.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { level: 1, name: 'Written twice' }).waitFor();
    await page.goto('/tickets/new');
    await subject.waitFor();
    expect(await subject.inputValue()).toBe('');
    await subject.fill('Not for the next one');
    await page.getByText('Ada Novak').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    // They went by themselves: whoever comes next begins anew.
    const { pathname, search } = new URL(page.url());
    expect(pathname + search).toBe('/sign-in');
    const kept = await page.evaluate('JSON.stringify(Object.entries(sessionStorage))');
    expect(kept).not.toContain('next one');
  });

  it('does nothing in the name of whoever signs in instead', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets/new');
    await page.getByLabel('Subject').fill('Not for others');
    await page.getByRole('textbox', { name: 'Message' }).fill('This is of one person alone.');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Send' }).click();
    const asked = page.getByRole('dialog', { name: 'Sign in' });
    await asked.getByLabel('E-mail address').fill(bed.product.demo.other_customer.email);
    await asked.locator('input[name=password]').fill(bed.product.demo.other_customer.password);
    const reloaded = page.waitForEvent('load');
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();
    await reloaded;
    await page.getByLabel('Subject').waitFor();
    expect(await page.getByLabel('Subject').inputValue()).toBe('');
    for (const customer of [bed.product.customer, bed.product.other]) {
      const { body } = await customer.get('/dashboard/tickets?search=others');
      expect(body.data.tickets).toEqual([]);
    }
  });
});

describe('a refusal', () => {
  it('is said in the language of whoever looks, fields and all; what only the API can say is marked as English', async () => {
    const { page } = await bed.open({ locale: 'de-DE' });
    await page.goto('/sign-in');
    await page.locator('input[name=email]').fill(bed.product.demo.customer.email);
    await page.locator('input[name=password]').fill('not my password');
    await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText('Diese Adresse und dieses Passwort gehören nicht zusammen, oder')
      .waitFor();
    await page.goto('/register');
    const person = { first_name: 'Zoë', last_name: 'Brand', email: 'zoe.brand@example.com' };
    for (const [name, value] of Object.entries(person)) await page.locator(`input[name=${name}]`).fill(value);
    await page.locator('input[name=password]').fill('aaaaaaaaaaaa');
    await page.locator('select[name=country]').selectOption('AT');
    await page.locator('button[type=submit]').click();
    await page.getByText('Es wiederholt wenige Zeichen.').waitFor();
    await page.route('**/api/auth/register', (route) =>
      route.fulfill({
        status: 409,
        json: {
          ...{ success: false, error: 'Conflict', code: 'conflict', request_id: 'r-1' },
          message: 'The third of them is 7 months old',
        },
      }),
    );
    await page.locator('button[type=submit]').click();
    const alert = page.getByRole('alert');
    await alert.getByText('In seinem jetzigen Zustand ist das nicht möglich.').waitFor();
    expect(await alert.locator('[lang=en]').innerText()).toBe('The third of them is 7 months old');
  });
});
