/** Staff's pages about customers in a real browser: organizations, people, services, their invoices. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { newCustomer, type Person } from '../test/people.ts';
import { sql } from '../test/sql.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let customer: Person;
let serviceId: number;
let invoiceId: number;
beforeAll(async () => {
  bed = await openStaffBed();
  customer = await newCustomer(bed.product, { creditMinor: 10_000 });
  ({ serviceId, invoiceId } = await runningVps(bed.product, customer, { domain: 'shown.example.com' }));
  await sql(
    bed.product,
    'update organizations set name = $1 where id = $2',
    hostile,
    customer.organizationId,
  );
  await sql(
    bed.product,
    'update users set first_name = $1, last_name = $1 where id = $2',
    hostile,
    customer.userId,
  );
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('finds a customer, grants credit, blocks and unblocks', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/organizations');
  await page.getByLabel('Search').fill('<img src=x onerror');
  // Rows move when the others go.
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await page.getByRole('link', { name: hostile }).click();
  await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
  await page.getByRole('button', { name: 'Grant credit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Amount').fill('12.50');
  await dialog.getByLabel('What for').fill('An hour without network');
  await dialog.getByRole('button', { name: 'Grant credit' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  await dialog.getByLabel('Reason').fill(hostile);
  await dialog.getByRole('button', { name: 'Block', exact: true }).click();
  await page.getByText(`Blocked: ${hostile}`).waitFor();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Unblock' }).click();
  await dialog.getByRole('button', { name: 'Unblock' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(`Blocked: ${hostile}`).waitFor({ state: 'detached' });
  const { body } = await bed.product.staff.get(`/staff/organizations/${customer.organizationId}`);
  expect(body.data.organization.status).toBe('active');
  expect(complaints()).toEqual([]);
});

it('acts as a customer under a banner that says so, and is themselves again', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/users/${customer.userId}`);
  await page.getByRole('button', { name: 'See what they see' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('Ticket a1b2c3d4');
  await dialog.getByRole('button', { name: 'See what they see' }).click();
  await page.getByText(`You see what ${customer.email} sees, until`).waitFor();
  await page.getByRole('link', { name: 'shown.example.com' }).waitFor();
  await page.reload();
  await page.getByText(`You see what ${customer.email} sees, until`).waitFor();
  // Their news arrives here, too, by the token of this tab.
  await customer.post('/dashboard/tickets/create', {
    ...{ subject: 'Slow', department: 'support', priority: 'low', message: 'Since this morning' },
  });
  await page.getByText('Somebody opened a ticket').waitFor();
  await page.getByRole('button', { name: 'End it' }).click();
  await page.getByRole('button', { name: 'See what they see' }).waitFor();
  const { body } = await bed.product.staff.get(`/staff/impersonations?user_id=${customer.userId}`);
  expect(body.data.impersonations[0].ended_at).not.toBeNull();
  expect(complaints()).toEqual([]);
});

it('suspends a service with a reason, and ends it only when its name is typed', {
  timeout: 240_000,
}, async () => {
  const domain = 'ended.example.com';
  const ended = await runningVps(bed.product, customer, { domain }, 60_000);
  const statusOf = async () =>
    (await bed.product.staff.get(`/staff/services/${ended.serviceId}`)).body.data.service.status;
  const { page } = await bed.openStaff();
  await page.goto(`/staff/services/${ended.serviceId}`);
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('It sends unsolicited mail');
  await dialog.getByRole('button', { name: 'Suspend', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('It sends unsolicited mail').waitFor();
  await page.getByRole('button', { name: 'Lift the suspension' }).click();
  await dialog.getByRole('button', { name: 'Lift the suspension' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
  await page.getByRole('button', { name: 'End it' }).click();
  await dialog.getByLabel('Reason').fill('Wanted');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  const name = dialog.getByLabel(`To confirm, type ${domain}`);
  await name.fill('ended');
  expect(await dialog.getByRole('button', { name: 'End it' }).isDisabled()).toBe(true);
  expect(await statusOf()).toBe('active');
  expect(sent).toEqual([]);
  await name.fill(domain);
  await dialog.getByRole('button', { name: 'End it' }).click();
  await expect.poll(statusOf).toBe('terminated');
  expect(sent).toEqual([`/api/staff/services/${ended.serviceId}/terminate`]);
});

it('breaks no rule of WCAG 2.2 AA, needs no moving sideways, and runs nothing that was written', {
  timeout: 240_000,
}, async () => {
  const pages = [
    ...['/staff/organizations', `/staff/organizations/${customer.organizationId}`, '/staff/users'],
    ...[`/staff/users/${customer.userId}`, '/staff/services', `/staff/services/${serviceId}`],
    ...['/staff/invoices', `/staff/invoices/${invoiceId}`],
  ];
  expect(await lookAt(bed, pages)).toEqual([]);
});
