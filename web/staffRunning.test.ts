/** Staff's pages about running the product in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import { settled, sql } from '../test/sql.ts';
import { inhabitShield } from './inhabitedShield.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
  await newCustomer(bed.product);
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('sets what is decided of how the company runs, an area at a time', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/settings');
  await page.getByText('Calendar of renewals and reminders').click();
  await page.getByLabel('Suspension, days after (empty: never)').fill('11');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is saved.').waitFor();
  const { body } = await bed.product.staff.get('/staff/settings');
  expect(body.data.settings.calendar.suspend_days_after).toBe(11);
  expect(complaints()).toEqual([]);
});

it("sets from where on something is an attack on a product's machines, and takes it back", async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/shield-products');
  const [row, form] = [page.getByRole('row', { name: /^VPS/ }), page.getByRole('dialog')];
  const { vps: id } = bed.product.demo.products;
  const read = async () => (await bed.product.staff.get(`/staff/shield/products/${id}`)).body.data.product;
  const change = async (mode: string, pps: string) => {
    await row.getByRole('button', { name: 'Change' }).click();
    await form.getByLabel('When something attacks').selectOption(mode);
    if (!(await form.getByLabel('Packets/s').nth(1).isVisible())) await form.getByText('Thresholds').click();
    await form.getByLabel('Packets/s').nth(1).fill(pps);
    await form.getByRole('button', { name: 'Change' }).click();
    await form.waitFor({ state: 'detached' });
  };
  await change('Do something about it', '40000');
  await row.getByText('UDP flood: 40k packets/s').waitFor();
  expect(await read()).toMatchObject({ mode: 'enabled', level: null, thresholds: { udp: { pps: 40_000 } } });
  await change('As for all others', '');
  await row.getByText('UDP flood').waitFor({ state: 'detached' });
  expect(await read()).toMatchObject({ mode: null, thresholds: {} });
  expect(complaints()).toEqual([]);
});

it('shows attacks on all, with what is done against them, and stops that', async () => {
  const { product } = bed;
  await runningVps(product, product.customer, { domain: 'attacked.example.com' });
  const { ip, attack } = await inhabitShield(product, 'For a test');
  await sql(
    product,
    `update shield_mitigations set released_at = null, because = null where attack_id = $1 and measure = 'limit_sources'`,
    attack,
  );
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/shield-attacks?address=${ip}`);
  await page.getByRole('link', { name: 'DNS reflection' }).click();
  await page.getByText('Drops what is reflected from port 53, 123').waitFor();
  await page.getByRole('region', { name: 'Countries' }).getByText('Germany').waitFor();
  await page.getByRole('button', { name: 'Stop it' }).click();
  const ask = page.getByRole('dialog');
  await ask.getByText('The organization sees it in its activity.').waitFor();
  await ask.getByRole('button', { name: 'Stop it' }).click();
  await page.getByText('It is being stopped.').waitFor();
  const asked = await sql(
    product,
    'select asked_by from shield_mitigations where asked_at is not null and attack_id = $1',
    attack,
  );
  expect(asked).toEqual([{ asked_by: 'staff' }]);
  expect(complaints()).toEqual([]);
});

it('keeps lists as rows, with what is wrong at the row that it is in', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/settings');
  await page.getByText('Calendar of renewals and reminders').click();
  const fees = page.getByRole('group', { name: 'Late fee, amounts by currency', exact: true });
  for (const [nth, currency, amount] of [
    [1, 'EUR', '5.00'],
    [2, 'USD', 'six'],
  ] as const) {
    await fees.getByRole('button', { name: 'Add one' }).click();
    const row = fees.getByRole('group', { name: `Late fee, amounts by currency ${nth}` });
    await row.getByLabel('Currency', { exact: true }).fill(currency);
    await row.getByLabel('Amount', { exact: true }).fill(amount);
  }
  await page.getByRole('button', { name: 'Save' }).click();
  const second = fees.getByRole('group', { name: 'Late fee, amounts by currency 2' });
  await second.locator('[aria-invalid=true]').waitFor();
  expect(await second.getByLabel('Amount', { exact: true }).inputValue()).toBe('six');
  await second.getByLabel('Amount', { exact: true }).fill('6.00');
  await fees.getByRole('button', { name: 'Move up: Late fee, amounts by currency 2' }).click();
  complaints();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is saved.').waitFor();
  const { body } = await bed.product.staff.get('/staff/settings');
  expect(body.data.settings.calendar.late_fee_amounts).toEqual([
    { currency: 'USD', amount: '6.00' },
    { currency: 'EUR', amount: '5.00' },
  ]);
  await fees.getByRole('button', { name: 'Remove: Late fee, amounts by currency 1' }).click();
  await fees.getByRole('button', { name: 'Remove: Late fee, amounts by currency 1' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => {
      const { body: now } = await bed.product.staff.get('/staff/settings');
      return now.data.settings.calendar.late_fee_amounts;
    })
    .toEqual([]);
  expect(complaints()).toEqual([]);
});

it('drains a node, and shows a mail as it was written', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto('/staff/nodes');
  await page.getByRole('button', { name: 'Change' }).first().click();
  await dialog.getByLabel('State').selectOption({ label: 'Takes no new ones' });
  await dialog.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('cell', { name: 'Takes no new ones' }).waitFor();
  const { body } = await bed.product.staff.get('/staff/nodes');
  expect(body.data.nodes[0].state).toBe('draining');
  await bed.product.staff.patch(`/staff/nodes/${body.data.nodes[0].id}`, { state: 'active' });
  expect(complaints()).toEqual([]);
});

it('adds a colleague', async () => {
  const { page } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto('/staff/people');
  await page.getByRole('button', { name: 'Add somebody' }).click();
  await dialog.getByLabel('E-mail').fill('kim@example.com');
  await dialog.getByLabel('First name').fill(hostile.slice(0, 80));
  await dialog.getByLabel('Last name').fill('Berg');
  await dialog.getByRole('button', { name: 'Add somebody' }).click();
  await page.getByRole('cell', { name: 'kim@example.com' }).waitFor();
});

it('breaks no rule of WCAG 2.2 AA, needs no moving sideways, and runs nothing that was written', {
  timeout: 300_000,
}, async () => {
  await settled(bed.product);
  await sql(bed.product, 'update mails set subject = $1, body = $1', hostile);
  const [mail] = await sql<{ id: string }>(bed.product, 'select id::text from mails limit 1');
  const { body } = await bed.product.staff.get('/staff/address-pools');
  const pool = body.data.address_pools[0];
  const pages = [
    ...[
      'nodes',
      'address-pools',
      `address-pools/${pool.id}`,
      'images',
      'jobs',
      'mails',
      `mails/${mail?.id}`,
      'audit',
    ],
    ...['webhook-deliveries', 'people', 'keys', 'settings'],
  ];
  expect(
    await lookAt(
      bed,
      pages.map((page) => `/staff/${page}`),
    ),
  ).toEqual([]);
});
