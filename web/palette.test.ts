/** Go, find, do: from anywhere, by keyboard and by touch. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { commands, wishIn } from './src/search/wish.ts';
import { openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
let serviceId: number;
beforeAll(async () => {
  bed = await openStaffBed();
  ({ serviceId } = await runningVps(bed.product, bed.product.customer, { domain: 'quick.example.com' }));
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('goes to a page and to a thing, by keyboard alone', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  // What is typed goes where the focus is.
  await page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.type('tick');
  await page.getByRole('option', { name: /^Tickets/ }).waitFor();
  expect(await visitor.faults()).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.type('quick.ex');
  await page.getByRole('option', { name: /quick\.example\.com/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/services/${serviceId}`);
  expect(visitor.complaints()).toEqual([]);
});

it('does what is typed, once it was asked, and says why not where it cannot be', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('start quick');
  await page.getByRole('option', { name: /^Start quick\.example\.com/ }).click();
  const start = page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true });
  await start.hover();
  await page.getByRole('tooltip').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('restart quick');
  await page.getByRole('option', { name: /^Restart quick\.example\.com/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart', exact: true }).click();
  await page.waitForURL(`**/services/${serviceId}`);
  const { body } = await bed.product.customer.get(`/dashboard/service/${serviceId}/vps/history`);
  expect(body.data.actions[0].command).toBe('restart');
});

it('is there for touch on a phone, and finds everything for staff', async () => {
  const visitor = await bed.open({ viewport: { width: 320, height: 640 }, hasTouch: true, locale: 'de-DE' });
  const { page } = visitor;
  await signIn(bed, visitor);
  await page.getByRole('button', { name: /^(Search|Suchen)$/ }).tap();
  await page.getByRole('combobox').fill('quick');
  await page.getByRole('option', { name: /quick\.example\.com/ }).waitFor();
  expect(await visitor.faults()).toEqual([]);
  await page.getByRole('option', { name: /quick\.example\.com/ }).tap();
  await page.waitForURL(`**/services/${serviceId}`);

  const staff = await bed.openStaff();
  await staff.page.goto('/staff');
  await staff.page.getByRole('heading', { level: 1 }).waitFor();
  const answer = staff.page.waitForResponse(/staff\/search\?q=quick/);
  await staff.page.keyboard.press('Control+k');
  await staff.page.getByRole('combobox').fill('quick');
  const { data } = (await (await answer).json()) as { data: { found: { id: string }[] } };
  expect(data.found.map(({ id }) => id)).toContain(String(serviceId));
});

it('reads what is to be done in the words of whoever looks, and in English', () => {
  const german = { start: 'Starten', stop: 'Ausschalten', restart: 'Neu starten' };
  const wish = (typed: string) => wishIn(typed, (command) => german[command]);
  expect(wish('neu starten web1')).toEqual({ command: 'restart', words: 'web1' });
  for (const command of commands) expect(wish(` ${command}  web1 `)).toEqual({ command, words: 'web1' });
  expect(wish('startup.example.com')).toEqual({ command: null, words: 'startup.example.com' });
});
