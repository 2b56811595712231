/** What changes a machine by itself or against its guest's will, as people see it in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { HypervisorError } from '../src/drivers/hypervisor/index.ts';
import { machineIdOf } from '../src/vps/machine.ts';
import { runningVps } from '../test/orders.ts';
import { settled } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let id: number;
beforeAll(async () => {
  bed = await openBed();
  ({ serviceId: id } = await runningVps(bed.product, bed.product.customer, { domain: 'power.example.com' }));
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const read = async (path: string) =>
  (await bed.product.customer.get(`/dashboard/service/${id}/vps/${path}`)).body.data;

/** As a test finds it that changes what runs, whatever the one before has left. */
async function runsInEnglish(): Promise<void> {
  const { product } = bed;
  await product.customer.post('/dashboard/account/preferences', { language: 'en' });
  if ((await read('overview')).vps.state === 'stopped')
    await product.customer.post(`/dashboard/service/${id}/vps/start`, {});
  await settled(product);
}

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)('a machine that ignores its power button is switched off at once: $name', async (corner) => {
  const isNarrow = corner.viewport.width === 320;
  const at = isNarrow ? 'Sofort ausschalten' : 'Switch off at once';
  const language = isNarrow ? 'de' : 'en';
  await bed.product.customer.post('/dashboard/account/preferences', { language });
  const { current_action: now, state } = (await read('overview')).vps;
  if (now === null && state === 'stopped')
    await bed.product.customer.post(`/dashboard/service/${id}/vps/start`, {});
  await settled(bed.product);
  const shutdown = vi
    .spyOn(bed.product.hypervisor, 'shutdown')
    .mockRejectedValue(new HypervisorError('shutdown_timeout', 'it still runs'));
  await bed.product.customer.post(`/dashboard/service/${id}/vps/stop`, {});
  await settled(bed.product);
  shutdown.mockRestore();

  const visitor = await bed.open(corner);
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}/history`);
  // Beside the failure, in plain words, and among what can be done with its power.
  const failed = page.getByRole('row').filter({
    hasText: isNarrow ? 'nicht rechtzeitig heruntergefahren' : 'did not shut down in time',
  });
  await failed.first().waitFor();
  await failed.first().getByRole('button', { name: at }).click();
  const dialog = page.getByRole('dialog');
  // While it fades in nothing in it has its colours yet.
  await expect
    .poll(() => page.evaluate(`getComputedStyle(document.querySelector('[role=dialog]')).opacity`))
    .toBe('1');
  await dialog.getByText(isNarrow ? /nicht gespeichert haben, ist verloren/ : /not saved is lost/).waitFor();
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  await dialog.getByRole('button', { name: isNarrow ? 'Abbrechen' : 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  if (isNarrow) {
    await page.getByRole('button', { name: 'Ein/Aus' }).click();
    await page.getByRole('menuitem', { name: at }).click();
  } else await page.getByRole('button', { name: at }).first().click();
  await dialog.getByRole('button', { name: at }).click();
  await expect.poll(async () => (await read('overview')).vps.state).toBe('stopped');
  // What is off has nothing left to be switched off.
  await failed.getByRole('button', { name: at }).waitFor({ state: 'detached' });
  expect(await failed.count()).toBeGreaterThan(0);
});

it("an action's progress and a repair that nobody asked for are seen on any page of the machine, untouched", async () => {
  const { product } = bed;
  await runsInEnglish();
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}/settings`);
  await page.getByText('Running').first().waitFor();
  // The stream is open: what comes now was not read with the page.
  const holds: (() => void)[] = [];
  // Done when it is let go: a start that is said to be done and is none is repaired once more, while the test goes on.
  const start = product.hypervisor.start.bind(product.hypervisor);
  const held = vi
    .spyOn(product.hypervisor, 'start')
    .mockImplementation((...of) => new Promise<void>((go) => holds.push(go)).then(() => start(...of)));
  try {
    product.hypervisor.lose(machineIdOf(id));
    // What, for how long, and for whom; the way to all of it beside it.
    await page.getByText(/⟳ Start · for \d+ sec · By itself/).waitFor();
    await page.locator('[role=status]').getByRole('link', { name: 'History' }).waitFor();
  } finally {
    // Held on, it would be in the way of every test that follows.
    held.mockRestore();
    for (const go of holds) go();
  }
  await settled(product);

  const answer = await (async () => {
    const slow = vi
      .spyOn(product.hypervisor, 'rebuildDisk')
      .mockImplementation(
        () =>
          new Promise((_, refuse) =>
            holds.push(() => refuse(new HypervisorError('disk_failed', 'no', { permanent: true }))),
          ),
      );
    holds.length = 0;
    const { status, body } = await product.customer.post(`/dashboard/service/${id}/vps/reinstall`, {
      ...{ os: 'tiny', password: 'Good-Pass-1' },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const bar = page.getByRole('progressbar', { name: 'Reinstall' });
    await expect
      .poll(async () => Number(await bar.getAttribute('aria-valuenow').catch(() => 0)))
      .toBeGreaterThan(0);
    slow.mockRestore();
    for (const go of holds) go();
    return body.data.action.id;
  })();
  expect((await read('history')).actions[0].id).toBe(answer);
  await settled(product);
  expect(visitor.complaints()).toEqual([]);
});

it('is said to begin before the answer is there, and never to have begun where it is refused', async () => {
  await runsInEnglish();
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}`);
  const isThere = Promise.withResolvers<void>();
  await page.route('**/vps/restart', async (route) => {
    await isThere.promise;
    const face = { success: false, error: 'Conflict', code: 'conflict', request_id: 'held' };
    await route.fulfill({ status: 409, json: { ...face, message: 'Not at this moment' } });
  });
  const restart = page.getByRole('button', { name: 'Restart' });
  await restart.waitFor();
  // The page has stood open for a while; the restart has not.
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 720_000; }');
  await restart.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
  // By whom as well, as it will be said of it.
  const begun = page.getByText(/⟳ Restart · for \d+ sec · .+@/);
  await begun.waitFor();
  isThere.resolve();
  await page.getByRole('alert').filter({ hasText: 'Not at this moment' }).waitFor();
  await begun.waitFor({ state: 'detached' });
});
