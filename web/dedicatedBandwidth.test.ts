/** What a customer sees of the traffic of a server, in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openSwitches, simulatedSwitches } from '../src/drivers/switch/index.ts';

import { newMeteredSwitch, rentedServer } from '../test/rack/metered.ts';
import { newServerProduct } from '../test/rack/stock.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

const switches = simulatedSwitches();
const open = openSwitches(switches);
let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: { switch: (connection) => open({ ...connection, kind: 'simulated' }) },
  });
});
afterEach(async () => {
  await bed.closeWindows();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});
afterAll(() => bed?.close());

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)(
  'the month of a server and its traffic over time: $name',
  async (corner) => {
    const isNarrow = corner.viewport.width === 320;
    const say = (english: string, german: string) => (isNarrow ? german : english);
    const { product } = bed;
    const at = await newMeteredSwitch(product, switches, ['eth1']);
    const server = await rentedServer(product, product.customer);
    await product.customer.post('/dashboard/account/preferences', { language: say('en', 'de') });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    const faults: string[] = [];
    const look = async (where: string) => {
      await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
      if (process.env.WEB_SHOTS)
        await page.screenshot({
          path: `${process.env.WEB_SHOTS}/${say('en', 'de')}-bandwidth-${where}.png`,
          fullPage: true,
        });
      for (const fault of await visitor.faults()) faults.push(`${where}: ${fault}`);
    };

    await signIn(bed, visitor, `/services/${server.id}`);
    if (isNarrow) await page.goto(`/services/${server.id}/bandwidth`);
    else await page.getByRole('link', { name: 'Bandwidth' }).click();
    await page.getByText(say('Nothing was measured', 'In dieser Zeit wurde nichts gemessen')).waitFor();
    await look('nothing');

    await at.plug('eth1', server.macs[0]);
    await at.readAfter(300_000);
    for (let nth = 0; nth < 12; nth += 1) {
      // From 80 Mbit/s on upwards the server sends, and receives a tenth of that.
      at.carry('eth1', 3_000_000_000n + BigInt(nth) * 250_000_000n, 300_000_000n);
      await at.readAfter(300_000);
    }
    await page.reload();
    // 52.5 GB sent and 3.6 GB received.
    await page.getByText(say('56.1 GB', '56,1 GB')).waitFor();
    await page.getByText(say('Sent: ', 'Gesendet: jetzt ')).first().waitFor();
    await look('day');
    await page.getByLabel(say('Time', 'Zeitraum'), { exact: true }).selectOption('week');
    await page.waitForURL(/period=week/);
    await look('week');
    expect([...faults, ...visitor.complaints()]).toEqual([]);
  },
  120_000,
);

it('staff says what traffic of a product costs, and a customer reads it beside the order', async () => {
  const { product } = bed;
  const id = await newServerProduct(product);
  const where = `/staff/products/${id}`;
  const traffic = async () => (await product.staff.get(where)).body.data.product.traffic;
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto(where);
  await page.getByText('Its traffic is not billed.').waitFor();
  await page.getByRole('button', { name: 'Set what traffic costs' }).click();
  await dialog.getByLabel('Billed by').selectOption('percentile95');
  await dialog.getByLabel('Included').fill('100');
  await dialog.getByLabel('Price').fill('1.50');
  await dialog.getByLabel('Direction').selectOption('out');
  await dialog.getByRole('button', { name: 'Set what traffic costs' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('100 Mbit/s are included, by the 95th percentile of what is sent').waitFor();
  const terms = { billing: 'percentile95', included: 100, price: '1.50', currency: 'EUR', direction: 'out' };
  expect(await traffic()).toEqual(terms);
  expect(complaints()).toEqual([]);
  expect(await lookAt(bed, [where])).toEqual([]);

  const customer = await bed.open();
  await signIn(bed, customer, `/order?product=${id}`);
  await customer.page.getByText('Each Mbit/s more costs €1.50 a month.').waitFor();
  if (process.env.WEB_SHOTS)
    await customer.page.screenshot({
      path: `${process.env.WEB_SHOTS}/en-bandwidth-order.png`,
      fullPage: true,
    });

  const again = await bed.openStaff();
  await again.page.goto(where);
  await again.page.getByRole('button', { name: 'Set what traffic costs' }).click();
  const other = again.page.getByRole('dialog');
  await other.getByLabel('Billed by').selectOption('');
  await other.getByRole('button', { name: 'Set what traffic costs' }).click();
  await other.waitFor({ state: 'detached' });
  expect(await traffic()).toBeNull();
}, 120_000);
