/** Staff's side of the dashboard in a real browser, against the product itself: the house, and what waits for a person. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { sql } from '../test/sql.ts';
import { followUps } from './src/data/staffEvents.ts';
import en from './src/text/staff/staff.en.json' with { type: 'json' };
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(async () => {
  await bed.closeWindows();
  await sql(bed.product, `delete from jobs where name = 'test.shown'`);
});
afterAll(() => bed?.close());

async function failedJob(message: string): Promise<number> {
  const [row] = await sql<{ id: number }>(
    bed.product,
    `insert into jobs (name, payload, state, direction, run_at, created_at, finished_at, error_step, error_code, error_message)
     values ('test.shown', '{}', 'failed', 'backward', now(), now(), now(), 'disk', 'disk_failed', $1) returning id::int`,
    message,
  );
  return row?.id ?? 0;
}

it('shows staff what waits for a person, who sees to it in place', async () => {
  const id = await failedJob(`no disk ${hostile}`);
  const { page, complaints } = await bed.openStaff();
  await page.goto('/');
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  await page.getByText(`no disk ${hostile}`).waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('Moved by hand');
  await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Nothing waits for a person.').waitFor();
  expect(
    await sql(bed.product, 'select dismissed_at is not null as gone from jobs where id = $1', id),
  ).toEqual([{ gone: true }]);
  expect(complaints()).toEqual([]);
});

it('says above everything what lacks before anything is sold, and leads to where it is mended', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff');
  await page.getByRole('heading', { name: 'Before you sell' }).waitFor();
  await page.getByText('No backup was ever made').waitFor();
  const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts();
  expect(headings.slice(0, 2)).toEqual(['Before you sell', 'Needs a person']);
  const rate = page.getByRole('listitem').filter({ hasText: 'Nobody is charged tax' });
  await rate.getByRole('link', { name: 'Put it right' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tax rates' }).waitFor();
  await bed.product.staff.post('/staff/tax/rates', {
    country: 'NL',
    rate: '21.00',
    valid_from: '2026-01-01',
  });
  await page.goto('/staff');
  await page.getByText('No backup was ever made').waitFor();
  expect(await rate.count()).toBe(0);
  expect(complaints()).toEqual([]);
});

it('names everything that may lack in its own words', async () => {
  const { schemas } = (await bed.product.staff.get('/openapi.json')).body.components;
  const codes = (schemas.Lack.properties.code.enum as string[]).map((code) => code.replaceAll('.', '_'));
  expect(Object.keys(en.lack).toSorted()).toEqual(codes.toSorted());
});

it('is live: what happens elsewhere is shown untouched', async () => {
  const { page } = await bed.openStaff();
  const streaming = page.waitForResponse('**/api/staff/events');
  await page.goto('/staff');
  await page.getByText('Nothing waits for a person.').waitFor();
  await streaming;
  await failedJob('seen by itself');
  // The journal tells of something else, and what needs a person is read anew with it.
  await bed.product.customer.post('/dashboard/tickets/create', {
    ...{ subject: 'Hello', department: 'support', priority: 'low', message: 'Is anybody there?' },
  });
  await page.getByText('seen by itself').waitFor();
});

it('asks how the product does without being told of anything, for what stands still tells of nothing', async () => {
  const { page } = await bed.openStaff();
  await page.clock.install();
  await page.goto('/staff');
  await page.getByText('Nothing waits for a person.').waitFor();
  await failedJob('told by nobody');
  await page.clock.fastForward(31_000);
  await page.getByText('told by nobody').waitFor();
});

it('says what comes tomorrow and for how much, leads to a list of it, and draws what comes in again and again', async () => {
  const { product } = bed;
  const { serviceId } = await runningVps(product, product.customer, { domain: 'tomorrow.example.com' });
  await product.periodic('services.noteRecurring');
  const preview = async () =>
    (await product.staff.get('/staff/settings/preview')).body.data as {
      from: string;
      steps: { on: string; step: string; service: { id: number; price: string } }[];
    };
  const renewal = ({ steps }: Awaited<ReturnType<typeof preview>>) =>
    steps.find(({ step, service }) => step === 'invoice' && service.id === serviceId);
  const days = (on: string) => Date.parse(on) / 86_400_000;
  const { from, ...rest } = await preview();
  await sql(
    product,
    'update services set duedate = duedate - $1::int where id = $2',
    days(renewal({ from, ...rest })?.on ?? '') - days(from) - 1,
    serviceId,
  );
  const price = renewal(await preview())?.service.price;
  expect(price).toMatch(/^\d+\.\d\d$/);
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff');
  await page.getByText(`Tomorrow: 0 suspensions, 1 renewal (€${price})`).waitFor();
  await page.locator('svg.spark polyline').waitFor();
  await page.getByText('1 worker runs').waitFor();
  await page.getByRole('link', { name: /^Queue \d/ }).waitFor();
  await page.getByRole('link', { name: 'Preview' }).click();
  await page
    .getByRole('row', { name: /tomorrow\.example\.com/ })
    .first()
    .waitFor();
  expect(complaints()).toEqual([]);
});

it('is not for customers, who are sent to theirs', async () => {
  const visitor = await bed.open();
  await signIn(bed, visitor, '/staff');
  await visitor.page.getByRole('heading', { name: 'Overview' }).waitFor();
});

it('names what follows from every event', () => {
  const document = readFileSync(path.join(import.meta.dirname, '../docs/events.md'), 'utf8');
  const rooms = [...document.matchAll(/^\| `(\w+)\./gm)].map(([, room]) => room);
  expect(Object.keys(followUps).toSorted()).toEqual([...new Set(rooms)].toSorted());
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 240_000 }, async () => {
  await failedJob(hostile.repeat(3));
  expect(await lookAt(bed, ['/staff', '/staff/coming'])).toEqual([]);
});
