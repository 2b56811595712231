/** Support's pages in a real browser: the queue, a ticket, mails that are nobody's, canned replies. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { staffHere } from '../test/people.ts';
import { sql } from '../test/sql.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let tid: string;
beforeAll(async () => {
  bed = await openStaffBed();
  tid = await newTicket(hostile.slice(0, 90));
  await bed.product.staff.post('/staff/canned-replies', {
    name: hostile.slice(0, 60),
    message: 'Have you tried it again?',
  });
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

/** A ticket whose every word is hostile. Returns its short code. */
async function newTicket(subject: string): Promise<string> {
  const { body } = await bed.product.customer.post('/dashboard/tickets/create', {
    ...{ subject, department: 'support', priority: 'high', message: hostile.repeat(3) },
    attachments: [{ name: '"><script>document.title=3</script>.txt', content_base64: 'MTIK' }],
  });
  return body.data.ticket.tid;
}

it('answers a ticket from the queue with a canned reply, and keeps a note that no customer sees', async () => {
  const subject = `${randomBytes(6).toString('hex')} ${hostile}`.slice(0, 90);
  const answered = await newTicket(subject);
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/tickets');
  await page.getByRole('link', { name: subject }).click();
  await page.getByLabel('Insert a canned reply').selectOption({ index: 1 });
  await expect
    .poll(() => page.getByLabel('Your answer, which the customer gets').inputValue())
    .toContain('tried it again');
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.getByRole('listitem').getByText('Have you tried it again?').waitFor();
  await page.getByRole('button', { name: 'Internal note' }).click();
  await page.getByLabel('Your note, which no customer sees').fill('They are on holiday');
  await page.getByRole('button', { name: 'Keep the note' }).click();
  await page.getByText('Internal note by').waitFor();
  await page.getByRole('button', { name: 'Take it' }).click();
  await page.getByRole('button', { name: 'Let go' }).waitFor();
  const { messages } = (await bed.product.staff.get(`/staff/tickets/${answered}`)).body.data.ticket;
  expect(messages.map(({ kind }: { kind: string }) => kind)).toEqual(['customer', 'staff', 'note']);
  const { body } = await bed.product.customer.get(`/dashboard/tickets/${answered}`);
  expect(JSON.stringify(body)).not.toContain('holiday');
  expect(complaints()).toEqual([]);
});

it('shows what a customer writes untouched', async () => {
  const message = `It is still slow ${randomBytes(6).toString('hex')}`;
  const { page } = await bed.openStaff();
  const streaming = page.waitForResponse('**/api/staff/events');
  await page.goto(`/staff/tickets/${tid}`);
  await page.getByRole('button', { name: 'Send the answer' }).waitFor();
  await streaming;
  await bed.product.customer.post(`/dashboard/tickets/${tid}`, { message });
  await page.getByText(message).waitFor();
});

it('lets somebody of support, who may not read settings, change a ticket whose department there is no more', async () => {
  const { product } = bed;
  const { token, userId, ...support } = await staffHere(product, 'support');
  const cookie = { name: '__Host-innkeeper', value: token, domain: new URL(bed.url).hostname, path: '/' };
  const kept = { ...cookie, expires: -1, httpOnly: true, secure: true, sameSite: 'Lax' as const };
  const remembered = { name: 'innkeeper.signed-in', value: String(userId) };
  const origins = [{ origin: new URL(bed.url).origin, localStorage: [remembered] }];
  const { page, complaints } = await bed.open({ storageState: { cookies: [kept], origins } });
  const seen = async () => (await product.staff.get(`/staff/tickets/${tid}`)).body.data.ticket;
  await sql(product, `update tickets set department = 'gone' where tid = $1`, tid);
  expect((await support.get('/staff/settings')).status).toBe(403);
  await page.goto(`/staff/tickets/${tid}`);
  const change = async (act: () => Promise<unknown>) => {
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const department = dialog.getByLabel('Department');
    await department.getByRole('option', { name: 'Billing' }).waitFor({ state: 'attached' });
    expect(await department.inputValue()).toBe((await seen()).department);
    await act();
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const field = (label: string) => page.getByRole('dialog').getByLabel(label);
  await change(() => field('Priority').selectOption('low'));
  expect(await seen()).toMatchObject({ department: 'gone', priority: 'low' });
  await change(() => field('Department').selectOption({ label: 'Billing' }));
  expect(await seen()).toMatchObject({ department: 'billing', priority: 'low' });
  await page.goto('/staff/tickets');
  const link = page.locator(`a[href$="/staff/tickets/${tid}"]`).first();
  await link.waitFor();
  await page.getByLabel('Department').selectOption({ label: 'Support' });
  await link.waitFor({ state: 'detached' });
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA, needs no moving sideways, and runs nothing that was written', {
  timeout: 240_000,
}, async () => {
  const pages = [
    '/staff/tickets',
    `/staff/tickets/${tid}`,
    '/staff/unclaimed-mails',
    '/staff/canned-replies',
  ];
  expect(await lookAt(bed, pages)).toEqual([]);
});
