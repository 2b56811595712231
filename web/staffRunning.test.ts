/** Staff's pages about running the product in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { EdgeError } from '../src/drivers/edge/index.ts';
import { filterNoter } from '../src/shield/edges/health.ts';
import { runningVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import { settled, sql } from '../test/sql.ts';
import { inhabitRouters, inhabitShield } from './inhabitedShield.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
beforeAll(async () => {
  // Nothing filters: who watches over an edge would end within a second what a test writes down as done against an attack.
  bed = await openStaffBed({ env: { EDGE: 'none' } });
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

it('shows how edges are and what they are told, and has routers told of networks of ours alone', async () => {
  const { product } = bed;
  await runningVps(product, product.customer, { domain: 'fronted.example.com' });
  const { ips } = (await product.customer.get('/shield/v2/ips')).body.data;
  await inhabitRouters(product, String(ips[0].address).replace(/\/\d+$/, ''));
  const { page, complaints } = await bed.openStaff();
  const [dialog, main] = [page.getByRole('dialog'), page.getByRole('main')];
  await page.goto('/staff/shield-edges');
  const routers = page.getByRole('row', { name: /routers/ });
  await routers.getByText('A router has not been reached since').waitFor();
  const node = page.getByRole('row', { name: /In a node/ });
  await node.getByText('Nothing filters there.').waitFor();
  const can = ['rules', 'trials', 'one that came later'];
  await sql(product, `update shield_edges set reason = null, capabilities = $1 where kind = 'node'`, can);
  await page.reload();
  await node.getByText('Tries rules out, and takes them back by itself · one that came later').waitFor();
  await routers.getByRole('link').click();
  await page
    .getByRole('row', { name: /192\.0\.2\.254/ })
    .getByText('FlowSpec, IPv4: 3 told')
    .waitFor();
  await page
    .getByRole('row', { name: /no more than 1000 routes/ })
    .getByText('Not in force')
    .waitFor();
  await main.getByText('FlowSpec does not look at the TTL').waitFor();
  await page.getByRole('link', { name: 'It may be told of 1 network' }).click();
  const add = async (network: string) => {
    await dialog.getByLabel('Network').fill(network);
    await dialog.getByRole('button', { name: 'Add prefix' }).click();
  };
  const listed = async () =>
    (await product.staff.get('/staff/shield/prefixes')).body.data.prefixes.map(
      (prefix: { network: string }) => prefix.network,
    );
  const [first] = await listed();
  await page.getByRole('button', { name: 'Add prefix' }).click();
  await add('192.0.2.1/24');
  await dialog.getByText('This is no network: it has bits beyond its length.').waitFor();
  await add('192.88.99.0/24');
  await dialog.getByText('None of your address pools has addresses there.').waitFor();
  await add(first);
  await dialog.getByText('These routers may be told of this network already').waitFor();
  expect(await listed()).toEqual([first]);
  const { address_pools: pools } = (await product.staff.get('/staff/address-pools')).body.data;
  const network = `${pools.find((pool: { network: string }) => pool.network.includes('.')).gateway}/32`;
  await add(network);
  const row = page.getByRole('row').filter({ hasText: network });
  await row.waitFor();
  expect(await listed()).toEqual([first, network]);
  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByLabel(`Type ${network}`).fill(network);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  expect(await listed()).toEqual([first]);
  expect(complaints().filter((line) => !/status of 4(00|09|22)/.test(line))).toEqual([]);
});

it('shows on an open page when an edge fails, and when it does not any more', async () => {
  const { product } = bed;
  const [edge = { id: 0, node_id: 0 }] = await sql<{ id: number; node_id: number }>(
    product,
    "update shield_edges set served = true, reason = null where kind = 'node' returning id, node_id",
  );
  const note = filterNoter(product.ctx, edge.node_id);
  const { page, complaints } = await bed.openStaff();
  const streaming = page.waitForResponse('**/api/staff/events**');
  await page.goto(`/staff/shield-edges/${edge.id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await streaming;
  await note(new EdgeError('edge_refused', 'nft went away'), []);
  await page.getByText('nft went away').waitFor();
  await note(null, ['syn']);
  await page.getByText('nft went away').waitFor({ state: 'detached' });
  await note(null, []);
  await page.getByText('It answers.').waitFor();
  expect(complaints()).toEqual([]);
});

it('says what routers may bear, and refuses what is too much at its field', async () => {
  const { product } = bed;
  const { edges } = (await product.staff.get('/staff/shield/edges?kind=routers')).body.data;
  const read = async () => (await product.staff.get(`/staff/shield/edges/${edges[0].id}`)).body.data.edge;
  const { page } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  const save = () => dialog.getByRole('button', { name: 'Change' }).click();
  await page.goto(`/staff/shield-edges/${edges[0].id}`);
  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Of them for rules').fill('900');
  await save();
  await dialog.getByText('Half of all routes at most: attacks need the rest.').waitFor();
  await dialog.getByLabel('Of them for rules').fill('400');
  await dialog.getByLabel('Communities').fill('64500:666 70000:1');
  await save();
  await dialog.getByText('has a number above 65535').waitFor();
  expect((await read()).routers).toMatchObject({ rule_routes: 0, communities: [] });
  await dialog.getByLabel('Communities').fill('64500:666 64500:667');
  await dialog.getByLabel('Blackholes').check();
  await save();
  await page.getByText('64500:666, 64500:667').waitFor();
  expect((await read()).routers).toMatchObject({
    ...{ rule_routes: 400, blackholes: true, communities: ['64500:666', '64500:667'], next_hop4: null },
  });
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByLabel(/^To confirm/).fill(edges[0].name);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('Something is still told to this edge').waitFor();
  expect((await read()).id).toBe(edges[0].id);
});

it('shows of which day the lists of addresses are, and which presets are made from them', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff');
  await page.getByRole('link', { name: 'Lists of addresses' }).click();
  const { address_lists: lists } = (await bed.product.staff.get('/staff/shield/address-lists')).body.data;
  expect(lists.length).toBeGreaterThan(1);
  for (const { title, prefixes, source } of lists) {
    const row = page.getByRole('row', { name: title });
    await row.getByText(`${prefixes.ipv4} of IPv4, ${prefixes.ipv6} of IPv6`).waitFor();
    const [first] = source.split(', ');
    await row.locator(`a[href="${first}"]`).waitFor();
  }
  const cloudflare = page.getByRole('row', { name: 'Cloudflare' }).first();
  await cloudflare.getByText('28 Sept 2023').waitFor();
  await cloudflare.getByText('Web through Cloudflare alone').waitFor();
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

it.each([
  { at: 'narrow and dark', viewport: { width: 320, height: 700 }, colorScheme: 'dark' as const },
  { at: 'wide and light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' as const },
])('asks about edges, and what may be told to them, so that everybody can answer: $at', async (corner) => {
  const { product } = bed;
  const { edges } = (await product.staff.get('/staff/shield/edges?kind=routers')).body.data;
  const organization = product.demo.customer.organization_id;
  const { viewport, colorScheme } = corner;
  const { page, faults, complaints } = await bed.openStaff({
    ...{ viewport, colorScheme, hasTouch: true },
    // What fades in does not read yet.
    reducedMotion: 'reduce',
  });
  const dialog = page.getByRole('dialog');
  for (const [where, name] of [
    [`shield-edges/${edges[0].id}`, 'Change'],
    [`shield-edges/${edges[0].id}`, 'Delete'],
    ['shield-prefixes', 'Add prefix'],
    ['shield-prefixes', 'Delete'],
    ['shield-products', 'Change'],
    [`organizations/${organization}`, 'Blackholes'],
  ] as const) {
    await page.goto(`/staff/${where}`);
    await page.getByRole('button', { name, exact: true }).first().click();
    await dialog.getByRole('button').last().waitFor();
    await dialog.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    for (const fold of await dialog.locator('details:not([open]) > summary').all()) await fold.click();
    expect([where, name, await faults()]).toEqual([where, name, []]);
  }
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
  const { edges } = (await bed.product.staff.get('/staff/shield/edges')).body.data;
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
    ...edges.map(({ id }: { id: number }) => `shield-edges/${id}`),
    ...['shield-edges', 'shield-prefixes', 'shield-address-lists', 'shield-products'],
    ...['webhook-deliveries', 'people', 'keys', 'settings'],
  ];
  expect(
    await lookAt(
      bed,
      pages.map((page) => `/staff/${page}`),
    ),
  ).toEqual([]);
});
