/** The page of a server that a customer rents, from which staff moves its service, and those of installations and erasures, in a real browser. */
import { mkdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { keepProof } from '../src/dedicated/return/proof.ts';
import { openBmcs, simulatedRack } from '../src/drivers/bmc/index.ts';
import { transaction } from '../src/platform/index.ts';
import { rentedServer } from '../test/rack/metered.ts';
import { newServerProduct, newServers } from '../test/rack/stock.ts';
import { sql } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

const rack = simulatedRack();
let bed: StaffBed;
let rented: { id: number; serverId: number; name: string };
let other: { id: number; name: string };

beforeAll(async () => {
  bed = await openStaffBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
  });
  const { product } = bed;
  const productId = await newServerProduct(product);
  const { id, serverId } = await rentedServer(product, product.customer, productId);
  const { serverIds } = await newServers(product, productId, 1);
  other = { id: serverIds[0] ?? 0, name: await nameOf(serverIds[0] ?? 0) };
  rented = { id, serverId, name: await nameOf(serverId) };
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const nameOf = async (id: number) =>
  (await bed.product.staff.get(`/staff/servers/${id}`)).body.data.server.name as string;

/** What was installed, wiped and is under way, as the product keeps it. */
async function history(): Promise<void> {
  const { product } = bed;
  const erasure = {
    ...{ serial: 'S6WRNJ0T', model: 'MZQL2960', bytes: 960_197_124_096, method: 'sanitize-crypto' },
    ...{ marks: 4, marksLeft: 0, notZero: 4, seconds: 7, tried: [], drive: {} },
  };
  const [wipe] = await sql<{ id: number }>(
    product,
    `insert into server_assignments (server_id, service_id, kind, state, disks, erasures, opened_at, ended_at)
     values ($1, $2, 'wipe', 'done', '["S6WRNJ0T"]', jsonb_build_object('S6WRNJ0T', $3::jsonb), now(), now()) returning id`,
    other.id,
    rented.id,
    JSON.stringify({ ...erasure, endedAt: product.clock.now() }),
  );
  await transaction(product.ctx, 'test.keepProof', (tx) => keepProof(tx, rented.id, wipe?.id ?? 0));
  await sql(
    product,
    `insert into server_assignments (server_id, kind, state, disks, erasures, step, bytes, tree_bytes, opened_at, powered_at, heard_at)
     values ($1, 'install', 'working', '["A","B"]', '{"A":{},"B":{}}', 'write', 120000000, 310000000, now(), now(), now())`,
    rented.serverId,
  );
  // Of a node that no worker serves, so that nobody does it.
  await sql(
    product,
    `insert into jobs (name, payload, state, run_at, created_at, error_step, error_message, node_id)
     values ('dedicated.reinstall', jsonb_build_object('serviceId', $1::bigint, 'serverId', $2::bigint, 'actionId', 0), 'ready',
       now() + interval '1 year', now(), 'install', 'the installer is at work: write, 120 of 310 MB', 4242)`,
    rented.id,
    rented.serverId,
  );
}

it('moves a service by the typed name of its server, and says what came of it', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/servers/${rented.serverId}`);
  const section = page.locator('section', { hasText: 'Another server for its service' });
  await section.getByRole('button', { name: 'Move to another server', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('What is on the disks does not go along', { exact: false }).waitFor();
  await dialog.getByLabel(/^Other server/).selectOption({ index: 1 });
  await dialog.getByLabel('Reason', { exact: true }).fill('It restarts by itself');
  const go = dialog.getByRole('button', { name: 'Move to another server', exact: true });
  expect(await go.isDisabled()).toBe(true);
  await dialog.getByLabel(new RegExp(rented.name)).fill(rented.name);
  await go.click();
  // Nobody knows how its BMC is reached, so it cannot be switched off.
  await section.getByText('The service stayed where it was').waitFor();
  await section.getByRole('link', { name: other.name }).waitFor();
  expect(complaints()).toEqual([]);
});

it('shows what is under way with how far it is, and disks that were wiped with their proofs', async () => {
  await history();
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/installations');
  const row = page.getByRole('row').filter({ hasText: rented.name });
  await row.getByText('Reinstallation').waitFor();
  await row.getByText('120 MB of 310 MB').waitFor();
  await row.getByText('our installer, which is at work').waitFor();
  await row.getByRole('link', { name: 'Console' }).click();
  await page.getByRole('heading', { level: 1, name: rented.name }).waitFor();
  expect(page.url()).toMatch(/#console$/);

  await page.goto('/staff/erasures');
  const disk = page.getByRole('row').filter({ hasText: 'S6WRNJ0T' });
  await disk.getByText('The drive threw its key away').waitFor();
  for (const kind of ['JSON', 'PDF']) {
    const saved = page.waitForEvent('download');
    await disk.getByRole('button', { name: kind }).click();
    expect((await saved).suggestedFilename()).toBe(`erasure-${rented.id}.${kind.toLowerCase()}`);
  }
  await page.getByLabel('Search').fill('nothing');
  await page.getByText('Nothing matches what you filter by.').waitFor();
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  const pages = ['/staff/installations', '/staff/erasures', `/staff/servers/${rented.serverId}`];
  expect(await lookAt(bed, pages)).toEqual([]);
  const folder = process.env.WEB_SHOTS;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  for (const [size, width] of [
    ['desktop', 1_440],
    ['phone', 390],
  ] as const) {
    const { page } = await bed.openStaff({ viewport: { width, height: 900 } });
    for (const where of pages) {
      await page.goto(where);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForTimeout(1_000);
      await page.screenshot({ path: `${folder}/${size}-${where.split('/')[2]}.png`, fullPage: true });
    }
    await bed.closeWindows();
  }
});
