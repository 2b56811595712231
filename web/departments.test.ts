/** Staff's page of the departments that answer tickets, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { staffHere } from '../test/people.ts';
import { hostile, lookAt, openStaffBed, type StaffBed } from './staffBed.ts';
import { keptOf } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const departments = async () =>
  (await bed.product.staff.get('/staff/settings')).body.data.settings.support.departments;

it('adds a department with hours and targets, says what is wrong at its field, moves and removes it', async () => {
  const { page, complaints } = await bed.openStaff();
  const before = await departments();
  await page.goto('/staff/departments');
  await page.getByRole('button', { name: 'New department' }).click();
  const dialog = page.getByRole('dialog');
  const field = (label: string) => dialog.getByLabel(label, { exact: true });
  const send = dialog.getByRole('button', { name: 'New department' });
  await field('Name').fill('Night watch');
  await field('Short name').fill('support');
  await field('Time zone').fill('Europe/Vienna');
  await field('Around the clock').uncheck();
  await field('Monday').fill('8:30-12:00, 13:00–17:30');
  await field('Days on which nobody is there').fill('2026-12-25\n2026-12-26');
  const urgent = dialog.getByRole('group', { name: 'Targets: Urgent' });
  await urgent.getByLabel('First answer').fill('90');
  await send.click();
  // There is one of that name; what was typed stays.
  await dialog.locator('[aria-invalid=true]').waitFor();
  expect(await field('Monday').inputValue()).toBe('8:30-12:00, 13:00–17:30');
  await field('Short name').fill('night');
  await send.click();
  await dialog.waitFor({ state: 'detached' });
  const section = page.getByRole('main').locator('section').filter({ hasText: 'Night watch' });
  await section.getByText('Mon 08:30–12:00, 13:00–17:30').waitFor();
  await section.getByText('Tue–Fri 09:00–17:00').waitFor();
  await section.getByText('1 hr 30 min').waitFor();
  const after = await departments();
  expect(after.slice(0, -1)).toEqual(before);
  expect(after.at(-1)).toMatchObject({
    ...{ slug: 'night', name: 'Night watch', timezone: 'Europe/Vienna', email: null },
    holidays: ['2026-12-25', '2026-12-26'],
    targets: { urgent: { first_answer_minutes: 90, solution_minutes: null } },
  });
  expect(after.at(-1).hours.slice(0, 2)).toEqual([
    { day: 'monday', from: '08:30', to: '12:00' },
    { day: 'monday', from: '13:00', to: '17:30' },
  ]);
  complaints();
  await section.getByRole('button', { name: 'Change', exact: true }).click();
  await field('Name').fill(hostile.slice(0, 60));
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const renamed = page
    .getByRole('main')
    .locator('section')
    .filter({ hasText: hostile.slice(0, 60) });
  await renamed.getByRole('button', { name: 'Move up' }).click();
  await expect
    .poll(async () => (await departments()).map(({ slug }: { slug: string }) => slug))
    .toEqual([...before.slice(0, -1), { slug: 'night' }, before.at(-1)].map(({ slug }) => slug));
  expect((await departments()).at(-2)).toEqual({ ...after.at(-1), name: hostile.slice(0, 60) });
  await renamed.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await renamed.waitFor({ state: 'detached' });
  expect(await departments()).toEqual(before);
  expect(complaints()).toEqual([]);
});

it('overwrites nothing that a colleague changed meanwhile', async () => {
  const { page } = await bed.openStaff();
  const before = await departments();
  await page.goto('/staff/departments');
  await page.getByRole('button', { name: 'New department' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Abuse');
  await dialog.getByLabel('Short name').fill('abuse');
  const changed = before.map((each: object) => ({ ...each, description: 'Changed by a colleague' }));
  await bed.product.staff.patch('/staff/settings', { support: { departments: changed } });
  await dialog.getByRole('button', { name: 'New department' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await departments()).slice(0, -1)).toEqual(changed);
  await bed.product.staff.patch('/staff/settings', { support: { departments: before } });
});

it('is not overwritten with what was shown before a colleague changed it', async () => {
  const { page } = await bed.openStaff();
  const before = await departments();
  await page.goto('/staff/departments');
  await page.getByRole('button', { name: 'Change', exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Mine');
  const changed = before.map((each: object) => ({ ...each, description: 'Theirs' }));
  await bed.product.staff.patch('/staff/settings', { support: { departments: changed } });
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByText('Somebody changed it since you read it.').waitFor();
  expect(await departments()).toEqual(changed);
  await bed.product.staff.patch('/staff/settings', { support: { departments: before } });
});

it('is read by billing, whose buttons say that they may not', async () => {
  const storageState = keptOf(bed, await staffHere(bed.product, 'billing'));
  const { page } = await bed.open({ storageState });
  await page.goto('/staff/departments');
  const button = page.getByRole('button', { name: 'New department' });
  await button.waitFor();
  await page.keyboard.press('Tab');
  await button.focus();
  await page.getByRole('tooltip').getByText('Your role does not allow this.').waitFor();
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, ['/staff/departments', '/staff/settings'])).toEqual([]);
});
