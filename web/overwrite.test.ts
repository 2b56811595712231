/** Two who change the same at once: what one typed never overwrites unseen what the other has changed. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { settled } from '../test/sql.ts';
import { openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
let machine: number;
beforeAll(async () => {
  bed = await openStaffBed();
  const { product } = bed;
  ({ serviceId: machine } = await runningVps(product, product.customer, { domain: 'two.example.com' }));
  await settled(product);
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('a name that somebody else has changed meanwhile is refused, shown, and then changed', async () => {
  const { product } = bed;
  const path = `/dashboard/organizations/${product.demo.customer.organization_id}`;
  // Another one each time that this is tried.
  const theirs = `Changed elsewhere ${Date.now()}`;
  const nameNow = async () => (await product.customer.get(path)).body.data.organization.name;
  const visitor = await bed.open();
  const { page } = visitor;
  // What the form is drawn of is known before anybody changes it.
  const drawn = page.waitForResponse((answer) => answer.url().endsWith(path));
  await signIn(bed, visitor, '/organization');
  const name = page.getByLabel('Name', { exact: true }).first();
  await drawn;
  // Until its form is drawn, the first field of that name is the one of another form.
  await expect.poll(async () => (await name.inputValue()) === (await nameNow())).toBe(true);
  await name.fill('Typed here');
  await product.customer.patch(path, { name: theirs });
  const save = page.getByRole('button', { name: 'Save' }).first();
  await save.click();
  await page.getByText('Somebody changed it since you read it.').waitFor();
  expect([await nameNow(), await name.inputValue()]).toEqual([theirs, 'Typed here']);
  await page.getByRole('button', { name: 'Show what is there now' }).click();
  await expect.poll(() => name.inputValue()).toBe(theirs);
  await name.fill('Seen and changed');
  await save.click();
  await page.getByText('Saved.').waitFor();
  expect(await nameNow()).toBe('Seen and changed');
  // And once more: it goes on from what it made.
  await name.fill('Changed again');
  await expect
    .poll(async () => {
      if ((await name.inputValue()) !== 'Changed again') await name.fill('Changed again');
      await save.click();
      return nameNow();
    })
    .toBe('Changed again');
});

it('what is typed while a form is drawn of what was saved stays, and so does the place in it', async () => {
  const { product } = bed;
  const path = `/dashboard/organizations/${product.demo.customer.organization_id}`;
  const nameNow = async () => (await product.customer.get(path)).body.data.organization.name;
  const visitor = await bed.open();
  const { page } = visitor;
  await page.route('**/dashboard/events**', () => new Promise(() => undefined));
  const drawn = page.waitForResponse((answer) => answer.url().endsWith(path));
  await signIn(bed, visitor, '/organization');
  const name = page.getByLabel('Name', { exact: true }).first();
  await drawn;
  await expect.poll(async () => (await name.inputValue()) === (await nameNow())).toBe(true);
  await name.fill('Saved by a key');
  await name.press('Enter');
  await page.getByText('Saved.').waitFor();
  // The button waits no longer: the form goes on from what there is.
  await page.getByRole('button', { name: 'Save', disabled: false }).first().waitFor();
  await page.keyboard.type(', and typed on');
  expect(await name.inputValue()).toBe('Saved by a key, and typed on');
  // Somebody types right after it was decided to draw it anew, before that has its turn.
  await page.evaluate(`
    const { postMessage } = MessagePort.prototype;
    const type = () => {
      const field = document.activeElement;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'Typed meanwhile');
      field.dispatchEvent(new Event('input', { bubbles: true }));
      window.hasTyped = true;
    };
    MessagePort.prototype.postMessage = function (...given) {
      if (window.isAboutToDraw) queueMicrotask(type);
      window.isAboutToDraw = false;
      return postMessage.apply(this, given);
    };`);
  let isSaved = false;
  await page.route(`**/api${path}`, async (route) => {
    if (route.request().method() === 'PATCH') isSaved = true;
    else if (isSaved) await page.evaluate('window.isAboutToDraw = true');
    await route.continue();
  });
  await name.press('Enter');
  await expect.poll(() => page.evaluate('window.hasTyped')).toBe(true);
  await page.getByRole('button', { name: 'Save', disabled: false }).first().waitFor();
  expect(await name.inputValue()).toBe('Typed meanwhile');
  expect(await nameNow()).toBe('Saved by a key, and typed on');
});

it('staff, too, and a dialog shows what is there now', async () => {
  const { product } = bed;
  const made = await product.staff.post('/staff/canned-replies', { name: 'Greeting', message: 'Hello' });
  const path = `/staff/canned-replies/${made.body.data.canned_reply.id}`;
  const { page } = await bed.openStaff();
  await page.goto('/staff/canned-replies');
  const drawn = page.waitForResponse((answer) => answer.url().endsWith(path));
  await page
    .getByRole('row', { name: /Greeting/ })
    .getByRole('button', { name: 'Change' })
    .click();
  await drawn;
  const dialog = page.getByRole('dialog');
  await product.staff.patch(path, { message: 'Good day' });
  await dialog.getByLabel('Text').fill('Hi');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.getByText('Somebody changed it since you read it.').waitFor();
  await dialog.getByRole('button', { name: 'Show what is there now' }).click();
  await expect.poll(() => dialog.getByLabel('Text').inputValue()).toBe('Good day');
  await dialog.getByLabel('Text').fill('Good morning');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await product.staff.get(path)).body.data.canned_reply.message).toBe('Good morning');
});

it('a ticket is sorted while its customer goes on writing, and not while a colleague sorts it', async () => {
  const { product } = bed;
  const made = await product.customer.post('/dashboard/tickets/create', {
    ...{ subject: 'To be sorted', department: 'support', priority: 'low', message: 'Hello' },
  });
  const { tid } = made.body.data.ticket;
  const path = `/staff/tickets/${tid}`;
  const subjectNow = async () => (await product.staff.get(path)).body.data.ticket.subject;
  const { page } = await bed.openStaff();
  await page.goto(path);
  const dialog = page.getByRole('dialog');
  const change = async (subject: string, meanwhile: () => Promise<{ status: number }>) => {
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByLabel('Subject').fill(subject);
    expect((await meanwhile()).status).toBe(200);
    await dialog.getByRole('button', { name: 'Change' }).click();
  };
  await change('Sorted', () =>
    product.customer.post(`/dashboard/tickets/${tid}`, { message: 'And one more thing.' }),
  );
  await dialog.waitFor({ state: 'detached' });
  expect(await subjectNow()).toBe('Sorted');
  await change('Sorted again', () => product.staff.patch(path, { priority: 'high' }));
  await dialog.getByText('Somebody changed it since you read it.').waitFor();
  expect(await subjectNow()).toBe('Sorted');
});

it("what changes right after one's own change is no more overwritten than what changed before", async () => {
  const { product } = bed;
  const path = `/dashboard/service/${machine}/vps/settings`;
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${machine}/settings`);
  const servers = page.getByLabel('Name servers');
  await servers.fill('192.0.2.53');
  // Somebody else is at it between this change and the look that follows it.
  let isChanged = false;
  await page.route(`**/api${path}`, async (route) => {
    if (route.request().method() === 'GET' && !isChanged) {
      isChanged = true;
      await product.customer.patch(path, { nameservers: ['192.0.2.99'] });
    }
    await route.continue();
  });
  const save = page.getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByText('Saved.').waitFor();
  await page.getByLabel(/^Nobody can reinstall/).check();
  await save.click();
  await page.getByText('Somebody changed it since you read it.').waitFor();
  const { settings } = (await product.customer.get(path)).body.data;
  expect([settings.nameservers, settings.protection.reinstall]).toEqual([['192.0.2.99'], false]);
  await page.getByRole('button', { name: 'Show what is there now' }).click();
  await expect.poll(() => servers.inputValue()).toBe('192.0.2.99');
  // What nobody else is at can be changed as often as somebody likes.
  const isProtected = async () => (await product.customer.get(path)).body.data.settings.protection.reinstall;
  for (const wanted of [true, false]) {
    await page.getByLabel(/^Nobody can reinstall/).setChecked(wanted);
    await save.click();
    await expect.poll(isProtected).toBe(wanted);
    await page.getByText('Saved.').waitFor();
  }
});

const somebodyElse = 'Somebody changed it since you read it.';
const settingsNow = async () => (await bed.product.staff.get('/staff/settings')).body.data.settings;

it('settings that a colleague has changed since the page was opened are refused in place', async () => {
  const { page } = await bed.openStaff();
  const change = (body: object) => bed.product.staff.patch('/staff/settings', body);
  await page.goto('/staff/settings/brand');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Mine');
  await change({ brand: { name: 'Theirs' } });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(somebodyElse).waitFor();
  expect([(await settingsNow()).brand.name, await name.inputValue()]).toEqual(['Theirs', 'Mine']);
  await page.goto('/staff/settings');
  await page.getByRole('heading', { name: 'Prices', exact: true }).click();
  const notice = page.getByLabel('Days of notice before a new price');
  const save = page.getByRole('button', { name: 'Save' });
  await notice.fill('50');
  // What is decided of something else is in nobody's way.
  await change({ brand: { name: null } });
  await save.click();
  await expect.poll(async () => (await settingsNow()).prices.notice_days).toBe(50);
  await page.getByText('It is saved.').waitFor();
  await notice.fill('60');
  await change({ prices: { notice_days: 70 } });
  await save.click();
  await page.getByText(somebodyElse).waitFor();
  expect([(await settingsNow()).prices.notice_days, await notice.inputValue()]).toEqual([70, '60']);
  await page.getByRole('button', { name: 'Show what is there now' }).click();
  await expect.poll(() => notice.inputValue()).toBe('70');
});

it('a form is drawn of what its tag stands for, and not of what the page remembers', async () => {
  const { product } = bed;
  const path = `/dashboard/services/${machine}`;
  await product.customer.patch(`${path}/note`, { note: 'Before' });
  const visitor = await bed.open();
  const { page } = visitor;
  // Nobody tells the page of anything, and what it reads again comes late.
  await page.route('**/dashboard/events**', (route) => route.abort());
  await signIn(bed, visitor, `/services/${machine}/contract`);
  const note = page.getByRole('textbox', { name: 'Note' });
  const unfold = () => page.locator('summary', { hasText: 'Note' }).click();
  await unfold();
  await expect.poll(() => note.inputValue()).toBe('Before');
  await page.getByRole('link', { name: 'History' }).click();
  await note.waitFor({ state: 'detached' });
  await product.customer.patch(`${path}/note`, { note: 'Theirs' });
  await page.route(`**/api${path}`, () => undefined);
  await page.getByRole('link', { name: 'Contract' }).click();
  await unfold();
  await expect.poll(() => note.inputValue()).toBe('Theirs');
  await product.customer.patch(`${path}/note`, { note: 'Theirs again' });
  await note.fill('Mine');
  const save = page.getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByText(somebodyElse).waitFor();
  const noteNow = async () => (await product.customer.get(path)).body.data.service.note;
  expect(await noteNow()).toBe('Theirs again');
  await page.getByRole('button', { name: 'Show what is there now' }).click();
  await expect.poll(() => note.inputValue()).toBe('Theirs again');
  await note.fill('Seen and changed');
  await save.click();
  await expect.poll(noteNow).toBe('Seen and changed');
});

it('what is in the way of a form can be looked at, and what was typed stays', async () => {
  const { product } = bed;
  const made = await product.customer.post('/dashboard/tickets/create', {
    ...{ subject: 'Before', department: 'support', priority: 'low', message: 'Hello' },
  });
  const { tid } = made.body.data.ticket;
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/tickets/${tid}`);
  await page.getByRole('button', { name: 'Change subject' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Subject').fill('After');
  await page.route('**/subject', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue();
    const headers = { ...route.request().headers() };
    delete headers['if-match'];
    await product.customer.post(`/dashboard/tickets/${tid}/close`, {});
    await route.continue({ headers });
  });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'See how it is now' }).click();
  await page.getByText('Closed', { exact: true }).first().waitFor({ state: 'attached' });
  expect(await dialog.getByLabel('Subject').inputValue()).toBe('After');
});
