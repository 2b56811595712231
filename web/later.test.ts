/** What the API refuses for a while: each ends in a sentence that says until when, and nothing that was typed is lost. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Cable, openCable } from '../test/cable.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let cable: Cable;
let bed: Bed;
beforeAll(async () => {
  cable = await openCable();
  bed = await openBed({ cable, env: { RATE_LIMITS: 'on' } });
});
afterEach(() => bed.closeWindows());
afterAll(async () => {
  await bed?.close();
  await cable?.close();
});

const subjects = async () => {
  const { body } = await bed.product.customer.get('/dashboard/tickets?limit=100');
  return body.data.tickets.map(({ subject }: { subject: string }) => subject);
};

it('who sends too often is told how long to wait, and keeps what was typed', async () => {
  const { product } = bed;
  const visitor = await bed.open();
  await signIn(bed, visitor, '/tickets/new');
  const { page } = visitor;
  await page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
  const draft = { subject: 'One of many', department: 'support', priority: 'low', message: 'Hello' };
  let status = 200;
  while (status === 200) ({ status } = await product.customer.post('/dashboard/tickets/create', draft));
  expect(status).toBe(429);
  await page.getByLabel('Subject').fill('One too many');
  await page.getByRole('textbox', { name: 'Message' }).fill('It was typed with care.');
  await page.getByRole('button', { name: 'Send' }).click();
  const refused = page.getByRole('alert').filter({ hasText: 'That was too often in a short time.' });
  expect(await refused.textContent()).toMatch(/Wait (\d+ minutes|1 hour), then try again\./);
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('It was typed with care.');
  expect(await visitor.faults()).toEqual([]);
  expect(await subjects()).not.toContain('One too many');
});

it('while the database is away a page says that it is for a while, and is read as soon as it is back', async () => {
  const visitor = await bed.open();
  await signIn(bed, visitor, '/');
  const { page } = visitor;
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await cable.cut();
  try {
    await page.getByRole('navigation').first().getByRole('link', { name: 'Billing', exact: true }).click();
    const away = page.getByRole('alert').filter({ hasText: 'Try again shortly.' }).first();
    await away.waitFor();
    expect(await away.textContent()).toContain('A part of the service is not available right now.');
    expect(await visitor.faults()).toEqual([]);
  } finally {
    await cable.mend();
  }
  const again = page.getByRole('button', { name: 'Try again' });
  await expect
    .poll(async () => {
      for (const button of await again.all()) await button.click().catch(() => undefined);
      return page.getByRole('alert').count();
    })
    .toBe(0);
});
