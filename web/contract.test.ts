/** What a service costs and how it ends, in a real browser against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { HypervisorError } from '../src/drivers/hypervisor/index.ts';
import { orderVps, runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
const ids: number[] = [];
beforeAll(async () => {
  bed = await openBed();
  for (const domain of ['one.example.com', 'two.example.com'])
    ids.push((await runningVps(bed.product, bed.product.customer, { domain })).serviceId);
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const service = async (id = ids[0]) =>
  (await bed.product.customer.get(`/dashboard/services/${id}`)).body.data.service;

async function openContract() {
  const visitor = await bed.open();
  await signIn(bed, visitor, `/services/${ids[0]}/contract`);
  await visitor.page.getByRole('heading', { level: 1, name: 'one.example.com' }).waitFor();
  return visitor;
}

it('is noted, renewed by itself or not, and cancelled to the end of its period and back', async () => {
  const { page, complaints } = await openContract();
  await page.locator('summary', { hasText: 'Note' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('Runs the shop');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await service()).note).toBe('Runs the shop');

  const { auto_renew: before } = await service();
  await page.getByRole('button', { name: before ? 'Stop renewing by itself' : 'Renew by itself' }).click();
  await page.getByRole('button', { name: before ? 'Renew by itself' : 'Stop renewing by itself' }).waitFor();
  await expect.poll(async () => (await service()).auto_renew).toBe(!before);

  await page.getByRole('button', { name: 'Cancel at the end of the period' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type “one.example.com” to go on').fill('one.example.com');
  await dialog.getByRole('button', { name: 'Cancel at the end of the period' }).click();
  await page.getByText(/^It is cancelled and ends on/).waitFor();
  expect((await service()).cancelled).toBe(true);
  await page.getByRole('button', { name: 'Take the cancellation back' }).click();
  await page.getByRole('button', { name: 'Cancel at once' }).waitFor();
  expect((await service()).cancelled).toBe(false);
  expect(complaints()).toEqual([]);
});

it('shows at once what is asked for, takes it back where it is refused, and lets what has happened meanwhile win', async () => {
  const { page } = await openContract();
  const { auto_renew: before } = await service();
  const [off, on] = ['Stop renewing by itself', 'Renew by itself'].map((name) =>
    page.getByRole('button', { name, exact: true }),
  );
  const [now, then] = before ? [off, on] : [on, off];
  const refusal = {
    ...{ success: false, error: 'Conflict', code: 'conflict', request_id: 'held' },
    message: 'Not at this moment',
  };
  const isThere = Promise.withResolvers<void>();
  await page.route(`**/api/dashboard/services/${ids[0]}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    await isThere.promise;
    await route.fulfill({ status: 409, json: refusal });
  });
  await now?.click();
  // No answer has come.
  await then?.waitFor();
  isThere.resolve();
  await page.getByRole('alert').filter({ hasText: 'Not at this moment' }).waitFor();
  await now?.waitFor();
  expect((await service()).auto_renew).toBe(before);

  // The same as somebody else has done it before the answer comes: their change is what is shown, whatever the answer.
  await page.unrouteAll();
  const sent = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route(`**/api/dashboard/services/${ids[0]}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    sent.resolve();
    await held.promise;
    await route.fulfill({ status: 409, json: refusal });
  });
  await now?.click();
  await sent.promise;
  await then?.waitFor();
  await bed.product.customer.patch(`/dashboard/services/${ids[0]}`, { auto_renew: !before });
  // Read anew by the event of it, while the answer is still held.
  await page.waitForResponse(
    (each) => each.request().method() === 'GET' && each.url().endsWith(`/services/${ids[0]}`),
  );
  held.resolve();
  await page.getByRole('alert').filter({ hasText: 'Not at this moment' }).waitFor();
  await then?.waitFor();
  await page.unrouteAll();
  await bed.product.customer.patch(`/dashboard/services/${ids[0]}`, { auto_renew: before });
});

it('is renewed for the time that is chosen, at the price that is shown', async () => {
  const { page, complaints } = await openContract();
  await page.getByRole('radio', { name: /^Every three months · €12\.00/ }).check();
  await page.getByRole('button', { name: 'Renew now' }).click();
  await page.waitForURL(/\/invoices\/\d+/);
  const invoice = new URL(page.url()).pathname.split('/').at(-1);
  const { body } = await bed.product.customer.get(`/dashboard/invoices/${invoice}`);
  expect(body.data.invoice.total).toBe('12.00');
  expect(complaints()).toEqual([]);
});

it('is one of several that are stopped at once, with a result for each', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/services');
  for (const name of ['one', 'two']) await page.getByLabel(`Choose ${name}.example.com`).check();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  for (const name of ['one', 'two']) await page.getByText(`${name}.example.com: begun.`).waitFor();
  for (const id of ids)
    await expect
      .poll(
        async () =>
          (await bed.product.customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps.state,
      )
      .toBe('stopped');
  expect(visitor.complaints()).toEqual([]);
});

it('is found by its note and by its address, and says in its row what was noted and why it could not be built', async () => {
  const { customer } = bed.product;
  await customer.patch(`/dashboard/services/${ids[1]}/note`, { note: 'Shop of the Miller family' });
  const { body } = await customer.get(`/dashboard/services/${ids[1]}`);
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/services?search=shop');
  const row = page.getByRole('row', { name: /two\.example\.com/ });
  await row.getByText('Shop of the Miller family').waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByRole('searchbox').fill(body.data.service.primary_ip);
  await expect.poll(() => new URL(page.url()).searchParams.get('search')).toContain('.');
  await row.waitFor();
  const refused = vi
    .spyOn(bed.product.hypervisor, 'createDisk')
    .mockRejectedValue(new HypervisorError('disk_failed', 'no room', { permanent: true }));
  const { invoiceId } = await orderVps(bed.product, customer, { domain: 'three.example.com' });
  await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await page.getByRole('searchbox').fill('three');
  await page.getByText('Could not be built.').waitFor();
  refused.mockRestore();
  await page.getByText('Why?').click();
  await page.getByText(/^Setting it up failed/).waitFor();
  expect(visitor.complaints()).toEqual([]);
});

it('says what ending it at once gives back, and ends', async () => {
  const { body } = await bed.product.customer.get(`/dashboard/services/${ids[0]}/cancel`);
  const { total } = body.data.immediate.refund;
  const { page } = await openContract();
  const said = Number(total) === 0 ? 'Nothing is given back.' : `€${total} is given back`;
  await page.getByText(said).first().waitFor();
  await page.getByRole('button', { name: 'Cancel at once' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Cancel at once' }).isDisabled()).toBe(true);
  await dialog.getByText(said).waitFor();
  await dialog.getByLabel('Type “one.example.com” to go on').fill('one.example.com');
  await dialog.getByRole('button', { name: 'Cancel at once' }).click();
  await expect.poll(async () => (await service()).cancelled).toBe(true);
  const { effective_at: end } = (await bed.product.customer.get(`/dashboard/services/${ids[0]}/cancel`)).body
    .data;
  expect(Date.parse(end)).toBeLessThanOrEqual(bed.product.clock.now().getTime());
  const main = page.getByRole('main');
  await main.getByText('Price and period').waitFor();
  await main.getByText('Ended', { exact: true }).first().waitFor();
  for (const gone of [/ends on/, /renewed by itself/, 'Next payment', 'Renew now'])
    await expect.poll(() => main.getByText(gone).count()).toBe(0);
});

const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

it.each(corners)(
  'breaks no rule of WCAG 2.2 AA and needs no moving sideways: $name',
  async (corner) => {
    const language = corner.name.endsWith('German') ? 'de' : 'en';
    await bed.product.customer.post('/dashboard/account/preferences', { language });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    await signIn(bed, visitor, '/services');
    await page.getByRole('checkbox').first().check();
    const found = [...(await visitor.faults()), ...visitor.complaints()];
    await page.goto(`/services/${ids[1]}/contract`);
    // Another product, and what is noted.
    for (const nth of [0, 1]) await page.locator('main section > details > summary').nth(nth).click();
    await page.locator('textarea[name=note]').waitFor();
    await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
    found.push(...(await visitor.faults()), ...visitor.complaints());
    expect(found).toEqual([]);
  },
  240_000,
);
