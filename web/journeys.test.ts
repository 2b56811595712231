/** What people do from its beginning to its end, over more than one page and often with somebody else. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from '../test/orders.ts';
import { sql } from '../test/sql.ts';
import { keyboard, touch } from './hands.ts';
import { type JourneysBed, journeys, openJourneysBed } from './journeys.ts';
import { linkIn, signIn, signInAs } from './testbed.ts';

let bed: JourneysBed;
beforeAll(async () => {
  bed = await openJourneysBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const service = async (id: number) =>
  (await bed.product.customer.get(`/dashboard/services/${id}`)).body.data.service;

it('somebody is invited with a role, joins, and is told what the role may not do', async () => {
  const { other_customer: invited } = bed.product.demo;
  const { serviceId } = await runningVps(bed.product, bed.product.customer, { domain: 'role.example.com' });
  // Whoever is in already cannot be invited.
  await sql(
    bed.product,
    `delete from memberships where organization_id = $1 and user_id = (select id from users where email = $2)`,
    bed.product.demo.customer.organization_id,
    invited.email,
  );
  const owner = await bed.open();
  await signIn(bed, owner, '/organization/members');
  await owner.page.getByLabel('E-mail address').fill(invited.email);
  await owner.page.getByLabel('Role', { exact: true }).selectOption('technical');
  await owner.page.getByRole('button', { name: 'Invite', exact: true }).click();
  await owner.page.getByText(`A mail is on its way to ${invited.email}.`).waitFor();

  const { page } = await bed.open();
  await page.goto(await linkIn(bed, invited.email, 'member.invited'));
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signInAs(page, invited);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByText('role.example.com').first().waitFor();
  // Untouched: the owner's page has heard of it.
  await owner.page.getByText('No invitation waits for an answer.').waitFor();

  await page.goto(`/services/${serviceId}/contract`);
  await page.getByRole('button', { name: 'Renew now' }).hover();
  await page.getByRole('tooltip').filter({ hasText: 'Your role does not allow this.' }).waitFor();
  await page.goto('/billing');
  const refused = page.getByRole('alert').filter({ hasText: 'Your role does not allow this. Ask an owner' });
  await refused.first().waitFor();
  await page.goto('/organization/members');
  await page.getByRole('heading', { name: 'What roles may do' }).waitFor();
  await page.getByRole('table').getByText(invited.email).waitFor();
  expect(await page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0);
});

it('somebody in no organization founds one, and acts for it', async () => {
  const { other_customer: alone } = bed.product.demo;
  await sql(
    bed.product,
    'delete from memberships where user_id = (select id from users where email = $1)',
    alone.email,
  );
  const { page, complaints } = await bed.open();
  await page.goto('/services');
  await signInAs(page, alone);
  await page.getByRole('heading', { level: 1, name: 'You are in no organization yet' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('House of One');
  await page.getByLabel('Country').selectOption({ label: 'Austria' });
  await page.getByRole('button', { name: 'Found it' }).click();
  await page.getByText('No services yet.').waitFor();
  expect(complaints()).toEqual([]);
});

it('a ticket with a file goes to staff, whose answer is on the page that the customer left open', async () => {
  const customer = await bed.open();
  const subject = `Slow since ${randomBytes(4).toString('hex')}`;
  await signIn(bed, customer, '/tickets/new');
  const { page } = customer;
  await page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
  await page.getByLabel('Subject').fill(subject);
  await page.getByRole('textbox', { name: 'Message' }).fill('See the trace.');
  const file = { name: 'trace.txt', mimeType: 'text/plain', buffer: Buffer.from('12 hops\n') };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { level: 1, name: subject }).waitFor();

  const staff = await bed.openStaff();
  await staff.page.goto('/staff/tickets');
  await staff.page.getByRole('link', { name: subject }).click();
  const saving = staff.page.waitForEvent('download');
  await staff.page.getByRole('button', { name: /^trace\.txt/ }).click();
  expect(await readFile(await (await saving).path(), 'utf8')).toBe('12 hops\n');
  await staff.page.getByLabel('Your answer, which the customer gets').fill('A cable was loose.');
  await staff.page.getByRole('button', { name: 'Send the answer' }).click();

  await page.getByText('A cable was loose.').waitFor();
  await page.getByText('Answered', { exact: true }).waitFor();
  expect([...customer.complaints(), ...staff.complaints()]).toEqual([]);
});

it('a machine is renewed and paid, and is then paid for longer', async () => {
  const { serviceId } = await runningVps(bed.product, bed.product.customer, { domain: 'renew.example.com' });
  const { duedate } = await service(serviceId);
  const { page, ...visitor } = await bed.open();
  await signIn(bed, { page, ...visitor }, `/services/${serviceId}/contract`);
  await page.getByRole('radio', { name: /^Every three months/ }).check();
  await page.getByRole('button', { name: 'Renew now' }).click();
  await page.waitForURL(/\/invoices\/\d+/);
  await page.getByRole('button', { name: /from credit$/ }).click();
  await page.getByText('Thank you, the invoice is paid.').waitFor();
  await expect
    .poll(async () => Date.parse((await service(serviceId)).duedate))
    .toBeGreaterThan(Date.parse(duedate));
  expect(visitor.complaints()).toEqual([]);
});

it('what could not be built is tried again by staff, and turns green on the page that the customer left open', async () => {
  bed.diskFails = true;
  const { invoiceId, serviceId } = await orderVps(bed.product, bed.product.customer, {
    domain: 'broken.example.com',
  });
  const customer = await bed.open();
  await signIn(bed, customer, `/services/${serviceId}`);
  await customer.page.getByRole('heading', { level: 1, name: 'broken.example.com' }).waitFor();
  await bed.product.customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await customer.page.getByText('It could not be built. We know about it and look after it.').waitFor();

  bed.diskFails = false;
  const staff = await bed.openStaff();
  await staff.page.goto(`/staff/services/${serviceId}`);
  await staff.page.getByRole('button', { name: 'Try again' }).click();
  await customer.page.getByText('Running', { exact: true }).waitFor();
  await customer.page.getByText('It could not be built.').waitFor({ state: 'detached' });
  expect((await service(serviceId)).status).toBe('active');
  expect([...customer.complaints(), ...staff.complaints()]).toEqual([]);
});

/** All of them in both ways: `journeys.long.test.ts`. */
it.each([
  { hands: keyboard, ...journeys.ticket },
  { hands: touch, ...journeys.renewal },
])('$hands.name: $name', { timeout: 180_000 }, ({ go, hands }) => go(bed, hands));
