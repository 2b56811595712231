/** The pages of one machine in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { HypervisorError } from '../src/drivers/hypervisor/index.ts';
import { pngOf } from '../src/drivers/hypervisor/png.ts';
import { runningVps } from '../test/orders.ts';
import { putPoints } from '../test/points.ts';
import { type Bed, openBed, signIn, type Visitor } from './testbed.ts';

let bed: Bed;
let id: number;
beforeAll(async () => {
  bed = await openBed();
  ({ serviceId: id } = await runningVps(bed.product, bed.product.customer, { domain: 'pages.example.com' }));
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const read = async (path: string) =>
  (await bed.product.customer.get(`/dashboard/service/${id}/vps/${path}`)).body.data;
const settled = () => expect.poll(async () => (await read('overview')).vps.current_action).toBeNull();

async function openTab(tab: string, options = {}): Promise<Visitor> {
  await settled();
  const visitor = await bed.open(options);
  await signIn(bed, visitor, `/services/${id}/${tab}`);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  return visitor;
}

/** Ten minutes that were measured, with a gap. */
async function measure(): Promise<void> {
  const now = bed.product.clock.now().getTime();
  const moments = Array.from({ length: 60 }, (_, nth) => new Date(now - nth * 10_000)).filter(
    (_, nth) => nth < 20 || nth > 30,
  );
  await putPoints(bed.product, {
    ...{ serviceId: id, organizationId: bed.product.demo.customer.organization_id, times: moments },
    ...{ cpu: 12.5, mem: 3e8, maxmem: 1e9, diskRead: 1_000, diskWrite: 2_000, netin: 3_000, netout: 4_000 },
  });
}

describe('a customer', () => {
  it('who has several pages of a machine or an address open tells them apart by the names of their tabs', async () => {
    const { page, complaints } = await openTab('');
    const titled = (title: string) => expect.poll(() => page.title()).toBe(`${title} · Innkeeper`);
    await titled('Overview · pages.example.com');
    // Two places of the page that are read out by their names.
    await page.getByRole('navigation', { name: 'Menu' }).waitFor();
    await page.getByRole('navigation', { name: 'Sections of this service' }).waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await titled('History · pages.example.com');
    await page.goBack();
    await titled('Overview · pages.example.com');
    await runningVps(bed.product, bed.product.customer, { domain: 'six.example.com', option5: 1 });
    const { body } = await bed.product.customer.get('/shield/v2/ips');
    const ips: string[] = body.data.ips.map(({ address }: { address: string }) =>
      address.replace(/\/.*/, ''),
    );
    expect(ips.some((ip) => ip.includes(':'))).toBe(true);
    for (const ip of ips) {
      await page.goto(`/shield/addresses/${encodeURIComponent(ip)}/traffic`);
      await titled(`Traffic · ${ip}`);
    }
    await page.goto('/shield/attacks');
    await titled('Attacks · Shield');
    await page.goto('/services');
    await titled('Services');
    expect(complaints()).toEqual([]);
  });

  it('takes a snapshot, goes back to it by typing the name, and deletes it, each seen through the API', async () => {
    const { page, complaints } = await openTab('snapshots');
    await page.getByText('No snapshots yet.').waitFor();
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('before-upgrade');
    await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
    // Untouched: the stream tells when it is done.
    await page.getByText('Ready').waitFor();
    expect((await read('snapshots')).snapshots).toMatchObject([{ name: 'before-upgrade', state: 'ready' }]);

    await page.getByRole('button', { name: 'Restore' }).click();
    // What is there now is kept first, and what goes back waits for it.
    const asked = Promise.withResolvers<void>();
    await page.route('**/vps/snapshots', async (route) => {
      if (route.request().method() === 'POST') await asked.promise;
      await route.continue();
    });
    await dialog.getByLabel('Type “pages.example.com” to go on').fill('pages.example.com');
    await dialog.getByRole('button', { name: 'Take a snapshot of the disk first' }).click();
    const restore = dialog.getByRole('button', { name: 'Restore' });
    await dialog.locator('button[data-loading]').waitFor();
    expect(await restore.isDisabled()).toBe(true);
    asked.resolve();
    await dialog.getByText(/^The snapshot before-\d+ keeps the disk as it is now\.$/).waitFor();
    const [first] = (await read('snapshots')).snapshots;
    expect(first).toMatchObject({ name: expect.stringMatching(/^before-/), state: 'ready' });
    await restore.click();
    await expect
      .poll(async () => (await read('history')).actions.map((each: { command: string }) => each.command))
      .toContain('restore_snapshot');
    await settled();
    await bed.product.customer.delete(`/dashboard/service/${id}/vps/snapshots/${first.name}`);
    await settled();
    await page.getByRole('row', { name: new RegExp(first.name) }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No snapshots yet.').waitFor();
    expect((await read('snapshots')).snapshots).toEqual([]);
    expect(complaints()).toEqual([]);
  });

  it('names an address, and what is no name is said at its field', async () => {
    const { page } = await openTab('addresses');
    await page.getByRole('button', { name: /^Change the reverse DNS of/ }).click();
    const field = page.getByRole('dialog').getByLabel('Reverse DNS', { exact: true });
    await field.fill('not a name');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').locator('input[name=dns_name][aria-invalid=true]').waitFor();
    expect(await field.inputValue()).toBe('not a name');
    await field.fill('mail.example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: /mail\.example\.com/ }).waitFor();
    expect((await read('ips')).ips[0].dns_name).toBe('mail.example.com');
  });

  it('sets a password that is made up and shown once', async () => {
    const { page, complaints } = await openTab('access');
    await page.getByRole('button', { name: 'Set a new password' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set a new password' }).click();
    await page.getByText('It is shown this once.').waitFor();
    await expect.poll(async () => (await read('history')).actions[0].command).toBe('reset_password');
    expect(complaints()).toEqual([]);
  });

  it('protects the machine from being reinstalled, which then says why not; takes that back, and reinstalls', async () => {
    const { page, complaints } = await openTab('settings');
    await page.getByLabel(/^Nobody can reinstall/).check();
    await page.getByLabel('Name servers').fill('192.0.2.53');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await read('settings')).settings).toMatchObject({
      ...{ nameservers: ['192.0.2.53'], protection: { reinstall: true, delete: false } },
    });
    await page.getByRole('link', { name: 'Reinstall' }).click();
    await page.getByText(/protected/).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel(/^Nobody can reinstall/).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Reinstall' }).click();
    await page.getByRole('radio', { name: 'Tiny Linux' }).check();
    const submit = page.getByRole('button', { name: 'Delete everything and install' });
    expect(await submit.isDisabled()).toBe(true);
    await page.getByLabel('Type “pages.example.com” to go on').fill('pages.example.com');
    await submit.click();
    await page.getByText('It has begun.').waitFor();
    await page.getByText('It is shown this once.').waitFor();
    await expect.poll(async () => (await read('history')).actions[0].command).toBe('reinstall');
    await settled();
    // The history shows it by itself.
    await page
      .getByRole('navigation', { name: 'Sections of this service' })
      .getByRole('link', { name: 'History' })
      .click();
    await page.getByRole('row', { name: /^Reinstall .*Done/ }).waitFor();
    expect(complaints()).toEqual([]);
  });

  it('sees what another size costs, and the invoice asks for that', async () => {
    const { page, complaints } = await openTab('resize');
    const submit = page.getByRole('button', { name: 'Change the size' });
    await page.getByLabel('Memory (GB)').fill('2');
    const total = await page.locator('[aria-busy=false] [data-total]').innerText();
    expect(total).toMatch(/^€\d+\.\d\d$/);
    await submit.click();
    await page.waitForURL(/\/invoices\/\d+/);
    const { body } = await bed.product.customer.get(
      `/dashboard/invoices/${new URL(page.url()).pathname.split('/').at(-1)}`,
    );
    expect(`€${body.data.invoice.total}`).toBe(total);
    expect(complaints()).toEqual([]);
  });

  it('sees what the machine uses as it is measured, untouched', async () => {
    const { page, complaints } = await openTab('');
    await page.getByText('pages.example.com').first().waitFor();
    const sample = async (cpu: number) =>
      putPoints(bed.product, {
        ...{ serviceId: id, organizationId: bed.product.demo.customer.organization_id },
        ...{ times: [bed.product.clock.now()], cpu, mem: 1e8, maxmem: 1e9 },
      });
    const bar = page.getByRole('progressbar', { name: 'CPU' });
    await expect
      .poll(async () => {
        await sample(77);
        return bar.getAttribute('aria-valuenow', { timeout: 500 }).catch(() => null);
      })
      .toBe('77');
    await page.getByText('77% of 1 core').waitFor();
    // What it used before is a line beside each figure.
    await measure();
    await expect
      .poll(async () => {
        await sample(78);
        return page.locator('svg.spark polyline').count();
      })
      .toBeGreaterThanOrEqual(2);
    await page.getByRole('button', { name: 'Show the API call' }).click();
    await page
      .getByRole('dialog')
      .getByText(`curl -X GET '${bed.url}/api/dashboard/service/${id}/vps/overview'`)
      .waitFor();
    await page.keyboard.press('Escape');
    expect(complaints()).toEqual([]);
  });

  it('sees what is on the machine’s screen as it changes, untouched, and opens the console by it', async () => {
    const { page, complaints } = await openTab('');
    const picture = page.getByRole('img', { name: /^What the machine shows on its screen/ });
    const drawn = () =>
      picture.evaluate((image) => {
        const { naturalWidth, naturalHeight } = image as unknown as Record<string, number>;
        return [naturalWidth, naturalHeight];
      });
    await expect.poll(drawn).toEqual([320, 200]);
    await page.getByRole('heading', { name: /^Screen, \d+ sec ago$/ }).waitFor();
    const blank = pngOf({ width: 72, height: 40 }, Buffer.alloc(72 * 40 * 3, 40));
    const shown = vi.spyOn(bed.product.hypervisor, 'readScreen').mockResolvedValue(blank);
    await expect.poll(drawn).toEqual([72, 40]);
    // Nothing more happens on it, and that is said.
    await page.getByText('Nothing has changed on it since.').waitFor();
    expect(complaints()).toEqual([]);
    shown.mockRejectedValue(new HypervisorError('screen_failed', 'it hangs'));
    await page.getByText('The screen could not be read.').waitFor();
    await expect.poll(() => picture.count()).toBe(0);
    shown.mockRestore();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(drawn).toEqual([320, 200]);
    await bed.product.customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    await page.getByText('The machine is off: its screen is dark.').waitFor();
    await settled();
    await bed.product.customer.post(`/dashboard/service/${id}/vps/start`);
    await settled();
    await picture.click();
    await page.waitForURL(/\/console\?type=vnc$/);
  });

  it('reads what the charts draw, for as long as is chosen', async () => {
    await measure();
    const { page, complaints } = await openTab('charts');
    await page.getByText(/^CPU: \d+ % now, \d+ % on average, \d+ % at most\.$/).waitFor();
    await expect.poll(() => page.locator('[role=img] canvas').count()).toBe(4);
    await page.getByLabel('Time').selectOption({ label: 'Last year' });
    await expect.poll(() => new URL(page.url()).search).toBe('?period=year');
    expect(complaints()).toEqual([]);
  });

  it('has one choice of sections and one of power on a phone', async () => {
    const { page } = await openTab('history', { viewport: { width: 320, height: 640 }, hasTouch: true });
    await page.getByRole('link', { name: 'Console' }).waitFor();
    await page.getByRole('button', { name: 'Power' }).tap();
    await page.getByRole('menuitem', { name: /^Start.*running/ }).waitFor();
    await page.getByRole('menuitem', { name: 'Restart' }).tap();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).tap();
    await expect.poll(async () => (await read('history')).actions[0].command).toBe('restart');
    await settled();
    await page
      .getByRole('combobox', { name: 'Sections of this service' })
      .selectOption({ label: 'Addresses' });
    await page.waitForURL(/\/addresses$/);
  });
});

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;
const tabs = [
  ...['', 'console?type=serial', 'charts', 'addresses', 'snapshots', 'access'],
  ...['settings', 'resize', 'reinstall', 'contract', 'history'],
];

it.each(corners)(
  'breaks no rule of WCAG 2.2 AA and needs no moving sideways: $name',
  async (corner) => {
    const language = corner.name.endsWith('German') ? 'de' : 'en';
    await bed.product.customer.post('/dashboard/account/preferences', { language });
    await measure();
    const visitor = await openTab('', corner);
    const { page } = visitor;
    const found: string[] = [];
    for (const tab of tabs) {
      await page.goto(`/services/${id}/${tab}`);
      await page.getByRole('heading', { level: 1, name: 'pages.example.com' }).waitFor();
      await page.locator('section, table, form, .plot').first().waitFor();
      await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
      for (const fault of [...(await visitor.faults()), ...visitor.complaints()])
        found.push(`${tab}: ${fault}`);
    }
    expect(found).toEqual([]);
  },
  240_000,
);
