/** Shield as customers see it in a real browser: rules from the first to those that are tried out, kept and taken back. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type MemoryEdge, memoryEdge } from '../src/drivers/edge/index.ts';
import { dropSsh, packet, rulesPath } from '../src/shield/testbed.ts';
import { runningVps } from '../test/orders.ts';
import { until } from '../test/product.ts';
import { keyboard } from './hands.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let edge: MemoryEdge;
let ip: string;
let where: string;
beforeAll(async () => {
  let now = () => Date.now();
  edge = memoryEdge({ now: () => now() });
  bed = await openBed({ drivers: { edge } });
  const { product } = bed;
  now = () => product.clock.now().getTime();
  await runningVps(product, product.customer, { domain: 'game.example.com' });
  const { body } = await product.customer.get('/shield/v2/ips');
  ip = String(body.data.ips[0].address).replace(/\/32$/, '');
  where = `/shield/addresses/${ip}`;
});
afterEach(async () => {
  await bed.closeWindows();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});
afterAll(() => bed?.close());

const ssh = () => edge.pass(packet(ip));
const ruleOf = (page: Page, words: string) =>
  page
    .getByRole('list', { name: /^(Rules|Regeln)$/ })
    .getByRole('listitem')
    .filter({ hasText: words });
const notesInForce = async () => {
  const { body } = await bed.product.customer.get(`/shield/v2/ips/${ip}`);
  return body.data.rules.map(({ note }: { note: string }) => note);
};

async function drag(page: Page, what: Locator, to: Locator): Promise<void> {
  const [from, onto] = [await what.boundingBox(), await to.boundingBox()];
  if (from === null || onto === null) throw new Error('nothing to drag');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(onto.x + 20, onto.y + 2, { steps: 8 });
  await page.mouse.up();
}

it('a rule is written, counted, dragged, simulated, tried out and kept', async () => {
  const { customer, clock } = bed.product;
  const visitor = await bed.open({ viewport: { width: 1440, height: 900 } });
  const { page } = visitor;
  await signIn(bed, visitor, '/shield');
  await page.getByRole('link', { name: ip }).click();
  await page.getByText('No rules.').waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Ports, such as 80, 443').fill('22');
  await dialog.getByLabel('Note').fill('No SSH');
  await dialog.getByRole('button', { name: 'Add a rule' }).click();
  await ruleOf(page, 'No SSH').getByText('In force').waitFor();
  expect(ssh()).toBe(false);
  // What is counted comes by itself, and so does what somebody else writes.
  for (let nth = 0; nth < 40; nth += 1) ssh();
  await ruleOf(page, 'No SSH').getByText('41 packets').waitFor();
  const office = dropSsh(ip, { action: 'permit', order: 500, source: '198.51.100.0/24', note: 'The office' });
  await customer.post(rulesPath, office);
  await ruleOf(page, 'The office').getByText('In force').waitFor();

  await drag(page, ruleOf(page, 'The office').locator('.handle'), ruleOf(page, 'No SSH'));
  const draft = page.getByRole('region', { name: 'Draft' });
  await draft.getByText('1 moved').waitFor();
  expect(await notesInForce()).toEqual(['No SSH', 'The office']);
  // Packets are known once they were looked at and their minute is over, whichever that is.
  await until(
    () => {
      clock.travel(61_000);
      return customer.post(`${rulesPath}/simulate`, { rules: [dropSsh(ip)], force: true });
    },
    ({ body }) => body.data.total.samples > 0,
  );
  await draft.getByRole('button', { name: 'What would it do?' }).click();
  const simulated = page.locator('section').filter({ hasText: 'What it would have done' });
  await simulated
    .getByText(/Let in, and dropped until now/)
    .first()
    .waitFor();
  await simulated.getByText('198.51.100.9').first().waitFor();
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);

  await draft.getByRole('button', { name: 'Put in force' }).click();
  await dialog.getByRole('button', { name: 'Try it out' }).click();
  await page.getByText('New rules are being tried out').waitFor();
  await expect.poll(() => page.locator('.countdown').innerText()).toMatch(/^0:[0-5]\d$/);
  await expect.poll(ssh).toBe(true);
  await page.locator('button[aria-disabled=true]', { hasText: 'Keep them' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Keep them' }).click();
  await draft.waitFor({ state: 'detached' });
  await page.getByText('New rules are being tried out').waitFor({ state: 'detached' });
  expect(await notesInForce()).toEqual(['The office', 'No SSH']);
  clock.travel(120_000);
  expect(ssh()).toBe(true);
  // Connections that were open before it was in force are refused, until one comes that is not.
  for (const complaint of visitor.complaints()) expect(complaint).toContain('409');
});

it('what shuts out whoever tries it is taken back by itself, and the draft stays: by keys, narrow, dark, in German', async () => {
  const { customer, clock } = bed.product;
  await customer.post('/dashboard/account/preferences', { language: 'de' });
  const visitor = await bed.open({ viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
  const { page } = visitor;
  await signIn(bed, visitor, where);
  const handle = ruleOf(page, 'No SSH').locator('.handle');
  await handle.waitFor();
  await keyboard.ask(handle);
  for (const key of ['Space', 'ArrowUp', 'Space']) await page.keyboard.press(key);
  // The focus goes where the rule went, and who hears is told.
  await page.getByText('ist jetzt 1 von 2').waitFor({ state: 'attached' });
  expect(await handle.evaluate('document.activeElement.className')).toBe('handle');
  const draft = page.getByRole('region', { name: 'Entwurf' });
  await draft.getByText('1 verschoben').waitFor();
  // It is there after a reload.
  await page.reload();
  await draft.getByRole('button', { name: 'In Kraft setzen' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Erproben' }).click();
  await page.getByText('Neue Regeln werden erprobt').waitFor();
  await expect.poll(ssh).toBe(false);
  const keep = page.getByRole('button', { name: 'Behalten' });
  await page.locator('button[aria-disabled=true]', { hasText: 'Behalten' }).waitFor({ state: 'detached' });
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  await page.route('**/confirm', (route) => route.abort());
  await keep.click();
  await page.getByText('Über eine neue Verbindung antwortete niemand').waitFor();
  clock.travel(61_000);
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 61_000; }');
  await page.getByText('Zurückgenommen: Niemand hat ihn rechtzeitig behalten').waitFor();
  await draft.getByText('1 verschoben').waitFor();
  expect([ssh(), await notesInForce()]).toEqual([true, ['The office', 'No SSH']]);
});

it('an address that cannot be read says so, and is there once it can', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const held = Promise.withResolvers<void>();
  let isBroken = true;
  await page.route(`**/shield/v2/ips/${ip}`, async (route) => {
    await held.promise;
    return isBroken ? route.abort() : route.continue();
  });
  await signIn(bed, visitor, where);
  await page.locator('.mantine-Skeleton-root').first().waitFor();
  expect(await visitor.faults()).toEqual([]);
  held.resolve();
  const failed = page
    .getByRole('alert')
    .filter({ hasText: 'Could not read this address. Nothing was changed.' });
  await failed.waitFor();
  isBroken = false;
  await failed.getByRole('button', { name: 'Try again' }).click();
  await ruleOf(page, 'The office').waitFor();
});
