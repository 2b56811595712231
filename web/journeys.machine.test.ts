/** From nothing to a shell in the page: somebody registers, orders, pays, and types into the console of a real machine. */
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonToSkip } from '../src/drivers/hypervisor/qemu/testbed.ts';
import { type Door, openBrowser, openDoor } from '../test/browser.ts';
import { bootMs, type RealProduct, startRealProduct } from '../test/machines.ts';
import { grantCredit, linkIn, signInAs } from './testbed.ts';

const reason = await reasonToSkip('tiny');
if (reason !== null) console.warn(`The journey to a real console does not run: ${reason}`);

describe.skipIf(reason !== null)('a dashboard before real machines', () => {
  let product: RealProduct;
  let door: Door;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    door = await openDoor(() => product.child.url);
    product = await startRealProduct('ikweb', 85, { DASHBOARD: 'on', PUBLIC_URL: door.url });
    browser = await openBrowser();
    page = await (await browser.newContext({ locale: 'en-GB', baseURL: door.url })).newPage();
    page.setDefaultTimeout(bootMs);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    await door?.close();
  }, 60_000);

  it('turns a registration into a shell that somebody types into', { timeout: 2 * bootMs }, async () => {
    const person = { email: 'zoe@example.com', password: 'seven green lanterns' };
    await page.goto('/register');
    await page.getByLabel('First name').fill('Zoe');
    await page.getByLabel('Last name').fill('Brand');
    await page.getByLabel('E-mail address').fill(person.email);
    await page.locator('input[name=password]').fill(person.password);
    await page.getByLabel('Country').selectOption({ label: 'Austria' });
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(await linkIn({ product }, person.email, 'account.registered'));
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAs(page, person);
    await page.getByText('No services yet.').waitFor();

    await grantCredit(product, person.email);
    await page.getByRole('navigation').getByRole('link', { name: 'Order', exact: true }).click();
    await page.getByRole('radio', { name: 'Tiny Linux' }).check();
    await page.getByLabel('Name', { exact: true }).fill('typed.example.com');
    await page.getByRole('button', { name: 'Make one up' }).click();
    const password = await page.locator('input[autocomplete=new-password]').inputValue();
    await page.getByRole('button', { name: /^Order for / }).click();
    await page.getByRole('button', { name: /from credit$/ }).click();
    await page.getByText('Thank you, the invoice is paid.').waitFor();

    await page.getByRole('navigation').getByRole('link', { name: 'Services', exact: true }).click();
    await page.getByRole('link', { name: 'typed.example.com' }).click();
    // Nobody touches the page until the machine has booted.
    await page.getByText('Running', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Console', exact: true }).first().click();
    await page.getByRole('link', { name: 'Serial line' }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    const screen = page.locator('.xterm-accessibility');
    const shows = (wanted: RegExp) =>
      expect.poll(() => screen.innerText(), { timeout: bootMs }).toMatch(wanted);
    await page.keyboard.press('Enter');
    await shows(/login:\s*$/);
    await page.keyboard.type('root\n');
    await shows(/assword:\s*$/);
    await page.keyboard.type(`${password}\n`);
    await shows(/#\s*$/);
    // What is said back is none of what was typed.
    const word = randomBytes(4).toString('hex');
    await page.keyboard.type(`echo $((40 + 2))-${word}-$(hostname)\n`);
    await shows(new RegExp(`42-${word}-typed\\.example\\.com`));
    // Painted as well as told: something other than the ground has been drawn.
    const lines = page.locator('.xterm-rows');
    await expect.poll(() => lines.innerText()).toContain(`42-${word}-typed.example.com`);
  });
});
