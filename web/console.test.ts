/** The console in a real browser, against the product itself; its machine is simulated and says back what is typed. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let id: number;
beforeAll(async () => {
  bed = await openBed();
  ({ serviceId: id } = await runningVps(bed.product, bed.product.customer, {
    domain: 'console.example.com',
  }));
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const machine = async () =>
  (await bed.product.customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;

it('shows the serial line, takes what is typed and pasted, and ends and begins again with the machine', async () => {
  const visitor = await bed.open({ viewport: { width: 1280, height: 800 } });
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}/console?type=serial`);
  await page.getByText('Connected', { exact: true }).waitFor();
  const screen = page.locator('.xterm-accessibility');
  await expect.poll(() => screen.innerText()).toContain('login:');
  await page.keyboard.type('typed-by-hand');
  await expect.poll(() => screen.innerText()).toMatch(/login:\s+typed-by-hand/);
  await page.getByRole('button', { name: 'Paste text' }).click();
  await page.getByRole('dialog').getByLabel('Text').fill('-and-pasted');
  await page.getByRole('dialog').getByRole('button', { name: 'Type it' }).click();
  await expect.poll(() => screen.innerText()).toContain('typed-by-hand-and-pasted');
  // What it is drawn with is there: without its styles it is black on black.
  const colors = await page.evaluate(`(() => {
    const style = getComputedStyle(document.querySelector('.xterm-rows'));
    return [style.color, getComputedStyle(document.querySelector('.xterm')).position];
  })()`);
  expect(colors).toEqual(['rgb(230, 232, 235)', 'relative']);
  // A keyboard finds out of it again.
  await page.locator('.xterm-screen').click();
  await page.keyboard.press('Shift+Escape');
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Full screen');
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);

  await bed.product.customer.post(`/dashboard/service/${id}/vps/stop`, {});
  await page.getByRole('button', { name: 'Connect again' }).waitFor();
  await expect.poll(async () => (await machine()).current_action).toBeNull();
  // Off, it has none, and that is said.
  await page.getByRole('button', { name: 'Connect again' }).click();
  await page
    .getByText('There is no console at the moment.')
    .or(page.getByText(/no console right now/))
    .first()
    .waitFor();
  await bed.product.customer.post(`/dashboard/service/${id}/vps/start`, {});
  await expect.poll(async () => (await machine()).state).toBe('running');
  await page
    .getByRole('button', { name: /^(Connect again|Try again)$/ })
    .first()
    .click();
  await page.getByText('Connected', { exact: true }).waitFor();
  await expect.poll(() => screen.innerText()).toContain('login:');
});

it('opens the screen with a window of its own, and says when it is refused', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}/console`);
  await page.locator('.console-place canvas').waitFor({ state: 'attached' });
  await page.getByText('Connecting…').waitFor();
  const opening = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Own window' }).click();
  const own = await opening;
  await own.locator('.console-place canvas').waitFor({ state: 'attached' });
  expect(await own.getByRole('navigation').count()).toBe(0);
  expect(visitor.complaints()).toEqual([]);
  await page.route('**/vps/console?*', (route) =>
    route.fulfill({
      status: 409,
      json: {
        ...{
          success: false,
          error: 'Conflict',
          message: 'The machine is stopped',
          code: 'action_not_allowed',
        },
        request_id: 'r-1',
      },
    }),
  );
  await page.getByRole('link', { name: 'Serial line' }).click();
  await page.getByText('The machine is stopped').waitFor();
});
