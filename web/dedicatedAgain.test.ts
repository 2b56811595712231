/** The pages on which a customer reinstalls a server or takes it into the rescue system, in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openBmcs, simulatedRack } from '../src/drivers/bmc/index.ts';
import { rentServer } from '../src/fleet/index.ts';
import { transaction } from '../src/platform/index.ts';
import { completeDelivery, requireOrder } from '../src/services/index.ts';
import { until } from '../test/product.ts';
import { newServerProduct, newServers, serverCart } from '../test/rack/stock.ts';
import { settled, sql } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

const rack = simulatedRack();
let bed: Bed;
beforeAll(async () => {
  bed = await openBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }), greets: async () => true },
  });
});
afterEach(async () => {
  await bed.closeWindows();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});
afterAll(() => bed?.close());

let made = 0;
/** A server that the customer has. */
async function rented() {
  const { product } = bed;
  made += 1;
  const address = `198.51.100.${made}`;
  const bmc = rack.put(address, { power: 'on' });
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  const serverId = serverIds[0] ?? 0;
  await product.staff.patch(`/staff/servers/${serverId}`, {
    macs: [`52:54:00:00:2d:${String(made).padStart(2, '0')}`],
    bmc: { kind: 'simulated', address, user: 'root', password: 'factory-1' },
  });
  const domain = `again${made}.example.com`;
  const { body } = await product.customer.post('/cart/checkout/invoice', serverCart(productId, { domain }));
  const id = body.data.service_ids[0] as number;
  // Nobody has paid it: there is no network here that it could start its installer from.
  await transaction(product.ctx, 'test.deliver', async (tx) => {
    const order = await requireOrder(tx, id);
    await completeDelivery(tx, order, { hostname: order.domain, primaryIp: null });
    await rentServer(tx, id);
  });
  await product.periodic('fleet.askBmcs');
  await settled(product);
  return { id, serverId, bmc, domain };
}

/** What the installer says of a server that waits for it. */
async function installerSays(serverId: number, set: string): Promise<void> {
  await until(
    () =>
      sql(
        bed.product,
        `update server_assignments set heard_at = now(), ${set}
         where server_id = $1 and state in ('open', 'working') and powered_at is not null returning id`,
        serverId,
      ),
    (rows) => rows.length === 1,
    30_000,
  );
}

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)(
  'a server is reinstalled and rescued by its customer, who sees how far it is: $name',
  async (corner) => {
    const isNarrow = corner.viewport.width === 320;
    const say = (english: string, german: string) => (isNarrow ? german : english);
    const server = await rented();
    await bed.product.customer.post('/dashboard/account/preferences', { language: say('en', 'de') });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    const faults: string[] = [];
    const look = async (where: string) => {
      await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
      if (process.env.WEB_SHOTS)
        await page.screenshot({
          path: `${process.env.WEB_SHOTS}/${say('en', 'de')}-again-${where}.png`,
          fullPage: true,
        });
      for (const fault of await visitor.faults()) faults.push(`${where}: ${fault}`);
    };
    const state = (english: string, german: string) =>
      page
        .locator('.state', { hasText: say(english, german) })
        .first()
        .waitFor({ timeout: 30_000 });

    await signIn(bed, visitor, `/services/${server.id}/reinstall`);
    const submit = page.getByRole('button', {
      name: say('Delete this and install', 'Das löschen und installieren'),
    });
    await submit.waitFor();
    // Whoever has not typed its name deletes nothing.
    expect(await submit.isDisabled()).toBe(true);
    await page.getByRole('radio', { name: say('One disk', 'Eine Platte') }).check({ force: true });
    const disk = page.getByRole('checkbox', { name: /^NVMe/ });
    expect(await disk.count()).toBe(2);
    await disk.last().check();
    const chosen = (await disk.last().getAttribute('name'))?.replace('disk-', '');
    await look('reinstall');
    await page.locator('input[name=confirm]').fill(server.domain);
    await submit.click();
    await page.getByText(say('It has begun. This page', 'Es hat begonnen. Oben')).waitFor();
    await state('Being reinstalled', 'Wird neu installiert');
    await page.getByRole('progressbar', { name: say('Reinstall', 'Neu installieren') }).waitFor();
    const [work] = await sql<{ wipe: string[] }>(
      bed.product,
      'select wipe from server_assignments where server_id = $1',
      server.serverId,
    );
    expect(work?.wipe).toEqual([chosen]);
    await look('reinstalling');
    await installerSays(server.serverId, `state = 'done', ended_at = now(), plan = null, given_at = now()`);
    await state('Running', 'Läuft');

    // A disk refuses: what to do stands above every page, and another one may begin.
    await page.goto(`/services/${server.id}/reinstall`);
    await page.locator('input[name=confirm]').fill(server.domain);
    await submit.click();
    await state('Being reinstalled', 'Wird neu installiert');
    await installerSays(
      server.serverId,
      `state = 'failed', ended_at = now(), plan = null, given_at = now(), failure_code = 'disk_not_wiped', failure = 'no'`,
    );
    await page
      .getByText('nothing starts from them: reinstall once more')
      .first()
      .waitFor({ timeout: 30_000 });
    await look('failed');
    expect(server.bmc.power).toBe('off');

    await page.goto(`/services/${server.id}/rescue`);
    await page
      .getByRole('button', { name: say('Start the rescue system', 'Rettungssystem starten') })
      .waitFor();
    await look('rescue');
    await page
      .getByRole('button', { name: say('Start the rescue system', 'Rettungssystem starten') })
      .click();
    await page.getByText(say('servers take minutes to start', 'brauchen Minuten zum Starten')).waitFor();
    await look('rescuing');
    await installerSays(server.serverId, `state = 'working', reached_at = now()`);
    await state('Rescue system', 'Rettungssystem');
    await page.goto(`/services/${server.id}/rescue`);
    const off = page.getByRole('button', { name: say('Start its own disks', 'Eigene Platten starten') });
    await off.waitFor();
    await look('in-rescue');
    await off.click();
    await expect.poll(() => server.bmc.starts.at(-1), { timeout: 30_000 }).toBe('disk');
    await page.goto(`/services/${server.id}/history`);
    await page
      .getByRole('row')
      .filter({ hasText: say('Start its own disks', 'Eigene Platten starten') })
      .waitFor();
    await look('history');
    expect([...faults, ...visitor.complaints()]).toEqual([]);
  },
  180_000,
);
