/** The pages of a server that a customer rents, in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { keepProof } from '../src/dedicated/return/proof.ts';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../src/drivers/bmc/index.ts';
import { transaction } from '../src/platform/index.ts';
import { payByCredit } from '../test/invoices.ts';
import { until } from '../test/product.ts';
import { handOver, newServerProduct, newServers, serverCart } from '../test/rack/stock.ts';
import { settled, sql } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

const rack = simulatedRack();
const open = openBmcs({ rack, offForMs: 0 });
let bed: Bed;
beforeAll(async () => {
  bed = await openBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: {
      // Nobody waits two minutes for a system that is known to ignore its power button.
      bmc: (connection) => {
        const bmc = open(connection);
        return { ...bmc, shutDown: () => bmc.shutDown({ timeoutMs: 1_000 }) };
      },
    },
  });
  const { product } = bed;
  const { organization_id: id } = product.demo.customer;
  const given = { amount: '2000.00', currency: 'EUR', description: 'For servers' };
  await product.staff.post(`/staff/organizations/${id}/credit`, given);
});
afterEach(async () => {
  await bed.closeWindows();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});
afterAll(() => bed?.close());

let made = 0;
/** A server that was paid and is being made ready. */
async function ordered() {
  const { product } = bed;
  made += 1;
  const address = `198.51.100.${made}`;
  const bmc = rack.put(address, { power: 'on' });
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  await product.staff.patch(`/staff/servers/${serverIds[0]}`, {
    macs: [`52:54:00:00:1d:${String(made).padStart(2, '0')}`],
    bmc: { kind: 'simulated', address, user: 'root', password: 'factory-1' },
  });
  const domain = `big${made}.example.com`;
  const { body } = await product.customer.post(
    '/cart/checkout/invoice',
    serverCart(productId, { option5: 1, domain }),
  );
  await payByCredit(product.customer, body.data.invoice_id);
  const id = body.data.service_ids[0] as number;
  return { id, bmc, domain, path: `/dashboard/service/${id}/dedicated` };
}

/** It is its customer's, and was heard of. */
async function deliver({ id, bmc }: { id: number; bmc: SimulatedBmc }) {
  const { product } = bed;
  await handOver(product, id);
  bmc.power = 'on';
  for (const each of ['fleet.askBmcs', 'fleet.readBmcs']) {
    await product.periodic(each);
    await settled(product);
  }
}

const read = async (path: string) => (await bed.product.customer.get(path)).body.data;

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)(
  'a server is switched, named and looked into by its customer: $name',
  async (corner) => {
    const isNarrow = corner.viewport.width === 320;
    const say = (english: string, german: string) => (isNarrow ? german : english);
    const server = await ordered();
    await bed.product.customer.post('/dashboard/account/preferences', { language: say('en', 'de') });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    const faults: string[] = [];
    const look = async (where: string) => {
      // A dialog that was closed fades, and so does a menu.
      const passing = '[aria-busy=true], .mantine-Skeleton-root, [role=dialog], [role=menu]';
      await expect.poll(() => page.locator(passing).count()).toBe(0);
      if (process.env.WEB_SHOTS)
        await page.screenshot({
          path: `${process.env.WEB_SHOTS}/${say('en', 'de')}-${where}.png`,
          fullPage: true,
        });
      for (const fault of await visitor.faults()) faults.push(`${where}: ${fault}`);
    };

    // Until it is theirs they read what is being done, and no mistake of ours.
    await signIn(bed, visitor, `/services/${server.id}`);
    await page.getByText(say('Your server is being made ready', 'Ihr Server wird vorbereitet')).waitFor();
    await page
      .getByText(/^⟳ The server (is being switched · 5|starts our system from the network · 10) %$/)
      .waitFor();
    await look('making');
    await deliver(server);
    await page.getByText(say('Running', 'Läuft')).first().waitFor();
    await page.getByText(/^ssh root@/).waitFor();
    await look('overview');

    // Its system does not follow the power button, and the way out stands beside that.
    server.bmc.failing.ignoresButton = true;
    const stop = say('Stop', 'Ausschalten');
    if (isNarrow) {
      await page.getByRole('button', { name: 'Ein/Aus' }).click();
      await page.getByRole('menuitem', { name: /^Starten.*running/s }).waitFor();
      await page.getByRole('menuitem', { name: stop, exact: true }).click();
    } else await page.getByRole('button', { name: stop, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: stop, exact: true }).click();
    const failed = page
      .getByRole('row')
      .filter({ hasText: say('within two minutes', 'innerhalb von zwei Minuten') });
    const atOnce = say('Switch off at once', 'Sofort ausschalten');
    await failed.getByRole('button', { name: atOnce }).waitFor();
    expect(server.bmc.power).toBe('on');
    await look('ignored');
    await failed.getByRole('button', { name: atOnce }).click();
    await dialog.getByText(say('not saved is lost', 'nicht gespeichert haben')).waitFor();
    await dialog.getByRole('button', { name: atOnce }).click();
    await page
      .locator('.state', { hasText: say('Stopped', 'Aus') })
      .first()
      .waitFor();
    expect(server.bmc.power).toBe('off');
    await failed.getByRole('button', { name: atOnce }).waitFor({ state: 'detached' });

    await page.goto(`/services/${server.id}/addresses`);
    await page.getByRole('button', { name: /^(Change the reverse DNS of|Reverse-DNS von) ?\d+\./ }).click();
    await dialog.locator('input[name=dns_name]').fill(server.domain);
    await dialog.getByRole('button', { name: say('Save', 'Speichern') }).click();
    await page.getByRole('cell', { name: server.domain }).waitFor();
    expect((await read(`${server.path}/ips`)).ips[0].dns_name).toBe(server.domain);
    await look('addresses');

    await page.goto(`/services/${server.id}/hardware`);
    await page.getByText(say('EPYC, 8 cores, 16 threads', 'EPYC, 8 Kerne, 16 Threads')).waitFor();
    await page
      .getByRole('table', { name: say('Sensors', 'Sensoren') })
      .getByText('°C')
      .first()
      .waitFor();
    await look('hardware');
    await page.goto(`/services/${server.id}/history`);
    await page.getByRole('row').filter({ hasText: stop }).nth(1).waitFor();
    await look('history');
    expect([...faults, ...visitor.complaints()]).toEqual([]);
  },
  120_000,
);

it('the page of a service that has ended says how its disks were wiped, once they are, and has the proof to keep', async () => {
  const { product } = bed;
  const server = await ordered();
  await deliver(server);
  await sql(product, `update services set status = 'terminated' where id = $1`, server.id);
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${server.id}`);
  await page.getByText(/on its way back\. How its disks were wiped is proved here as soon as/).waitFor();
  const wiped = {
    ...{ serial: 'S6WRNJ0T', model: 'MZQL2960', bytes: 960_197_124_096, method: 'sanitize-crypto' },
    ...{ marks: 4, marksLeft: 0, notZero: 4, seconds: 7, tried: [], drive: {} },
  };
  const [wipe] = await sql<{ id: number }>(
    product,
    `insert into server_assignments (server_id, service_id, kind, state, disks, erasures, opened_at, ended_at)
     select id, $1, 'wipe', 'done', '["S6WRNJ0T"]', jsonb_build_object('S6WRNJ0T', $2::jsonb), now(), now() from servers where service_id = $1
     returning id`,
    server.id,
    JSON.stringify({ ...wiped, endedAt: product.clock.now() }),
  );
  await transaction(product.ctx, 'test.keepProof', (tx) => keepProof(tx, server.id, wipe?.id ?? 0));
  await page.reload();
  await page
    .getByRole('row')
    .filter({ hasText: 'S6WRNJ0T' })
    .getByText('The drive threw its key away')
    .waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as PDF' }).click();
  expect((await saved).suggestedFilename()).toBe(`erasure-${server.id}.pdf`);
  // The browser notes that there was no proof at first.
  const complaints = visitor.complaints().filter((line) => !line.includes('409 (Conflict)'));
  expect([...(await visitor.faults()), ...complaints]).toEqual([]);
});

it('one that is not heard says since when, and what could not be done', async () => {
  const { product } = bed;
  const server = await ordered();
  await deliver(server);
  server.bmc.failing.silent = 'before';
  try {
    product.clock.travel(6 * 60_000);
    await product.periodic('fleet.askBmcs');
    await settled(product);
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, `/services/${server.id}`);
    await page.getByText(/^Its controller does not answer\. It was heard last on \d+/).waitFor();
    await page.getByText(/^On · as of \d+/).waitFor();
    expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  } finally {
    delete server.bmc.failing.silent;
  }
});

it('one that staff delivers by hand shows what every other service does', async () => {
  const { product } = bed;
  const productId = await newServerProduct(product);
  const { body } = await product.customer.post('/cart/checkout/invoice', serverCart(productId));
  const id = body.data.service_ids[0] as number;
  await payByCredit(product.customer, body.data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${id}/deliver`, {});
  await until(
    () => read(`/dashboard/services/${id}`),
    ({ service }) => service.status === 'active',
  );
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}`);
  await page.getByRole('heading', { level: 1, name: 'big.example.com' }).waitFor();
  await page.getByText('Next payment').waitFor();
  const sections = page.getByRole('navigation', { name: 'Sections of this service' });
  expect(await sections.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Contract']);
  expect(visitor.complaints()).toEqual([]);
});
