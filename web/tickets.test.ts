/** Customers' tickets in a real browser: found, read, changed, closed and opened again. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let serviceId: number;
beforeAll(async () => {
  bed = await openBed();
  ({ serviceId } = await runningVps(bed.product, bed.product.customer, { domain: 'asked.example.com' }));
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const word = () => randomBytes(6).toString('hex');

/** A ticket of the demonstration's customer. Returns its short code. */
async function newTicket(draft: object): Promise<string> {
  const { status, body } = await bed.product.customer.post('/dashboard/tickets/create', {
    ...{ subject: 'A question', department: 'support', priority: 'low', message: 'How is it done?' },
    ...draft,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.ticket.tid;
}

const seen = async (tid: string) =>
  (await bed.product.customer.get(`/dashboard/tickets/${tid}`)).body.data.ticket;

it('finds tickets by their words, narrows and orders them, and keeps that in the address', async () => {
  const [mark, other] = [word(), word()];
  await newTicket({ subject: `First ${mark}`, priority: 'urgent' });
  const closed = await newTicket({ subject: `Second ${mark}`, message: other, department: 'billing' });
  await bed.product.customer.post(`/dashboard/tickets/${closed}/close`);
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/tickets');
  const link = (name: string) => page.getByRole('link', { name: `${name} ${mark}` });
  await link('First').waitFor();
  await page.getByLabel('Search for words').fill(other);
  await link('First').waitFor({ state: 'detached' });
  await link('Second').waitFor();
  // What is searched for has an order of its own.
  expect(await page.getByLabel('Sorted by').isDisabled()).toBe(true);
  await page.getByLabel('Search for words').fill(mark);
  await link('First').waitFor();
  await page.getByLabel('State').selectOption({ label: 'Closed' });
  await link('First').waitFor({ state: 'detached' });
  await link('Second').waitFor();
  await page.getByLabel('Department').selectOption({ label: 'Support' });
  await page.getByText('No ticket matches.').waitFor();
  await page.goto(`/tickets?priority=urgent&search=${mark}`);
  await link('First').waitFor();
  expect(await page.getByLabel('Search for words').inputValue()).toBe(mark);
  expect(await link('Second').count()).toBe(0);
  await page.goto('/tickets');
  await page.getByLabel('Sorted by').selectOption({ label: 'Oldest ticket first' });
  await page.waitForURL(/sort=created_at/);
  const oldest = (await bed.product.customer.get('/dashboard/tickets?sort=created_at&limit=1')).body.data
    .tickets[0].subject;
  await expect.poll(() => page.getByRole('row').nth(1).innerText()).toContain(oldest);
  expect(visitor.complaints()).toEqual([]);
});

it('says what is wrong with what was typed before it is sent, at the field and in the language of the page', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  let sent = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/dashboard/tickets/create')) sent += 1;
  });
  await signIn(bed, visitor, '/tickets/new');
  const subject = page.getByRole('textbox', { name: 'Subject' });
  const message = page.getByRole('textbox', { name: 'Message' });
  await page.getByLabel('Priority').selectOption('low');
  await page.getByLabel('Department').selectOption('support');
  const send = page.getByRole('button', { name: 'Send' });
  await subject.fill('Hm');
  await send.click();
  await page.getByText('At least 3 characters.').waitFor();
  await page.getByText('This is needed.').waitFor();
  expect(await page.evaluate('document.activeElement.name')).toBe('subject');
  expect(await message.getAttribute('aria-invalid')).toBe('true');
  expect(await visitor.faults()).toEqual([]);
  expect(sent).toBe(0);
  const about = `Hm ${word()}`;
  await subject.fill(about);
  await message.fill('How is it done?');
  await send.click();
  await page.getByRole('heading', { level: 1, name: about }).waitFor();
  expect(sent).toBe(1);
  expect(visitor.complaints()).toEqual([]);
});

it('says anew what a ticket is about, closes it, says why it cannot be closed again, and opens it by an answer', async () => {
  const tid = await newTicket({});
  const [about, answer] = [word(), word()];
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/tickets/${tid}`);
  await page.getByRole('button', { name: 'Change subject' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Subject').fill('ab');
  await dialog.getByRole('button', { name: 'Save' }).click();
  // What is wrong is said at its field, and what was typed stays.
  await dialog.locator('[aria-invalid=true]').waitFor();
  await dialog.getByLabel('Subject').fill(about);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: about }).waitFor();
  expect((await seen(tid)).subject).toBe(about);
  visitor.complaints();
  const close = page.getByRole('button', { name: 'Close ticket' });
  await close.click();
  const reopen = page.getByRole('button', { name: 'Open again', exact: true });
  // Shown at once; it is so when the API has answered, which then says why it cannot be closed again.
  await reopen.waitFor();
  await expect.poll(async () => (await seen(tid)).status).toBe('closed');
  await page.locator('[aria-disabled=true]').filter({ hasText: 'Close ticket' }).waitFor();
  await page.keyboard.press('Tab');
  await close.focus();
  await page.getByRole('tooltip').waitFor();
  expect(await page.getByRole('tooltip').innerText()).toContain('closed');
  await reopen.click();
  const message = page.getByRole('textbox', { name: 'Message' });
  await page.locator('textarea:focus').waitFor();
  await message.fill(answer);
  await page.getByRole('button', { name: 'Send and open again' }).click();
  await page.getByRole('listitem').getByText(answer).waitFor();
  await reopen.waitFor({ state: 'detached' });
  // What is written is shown at once, too.
  await expect.poll(async () => (await seen(tid)).status).toBe('customer_reply');
  expect(visitor.complaints()).toEqual([]);
});

it('shows the service beside the conversation, and what was written as Markdown without running any of it', async () => {
  const tid = await newTicket({
    service_id: serviceId,
    message: [
      '# Slow **network**',
      '<img src=x onerror="document.title=1"><script>document.title=2</script>',
      '![a picture](https://pictures.example/x.png) and [your bank](https://evil.example/login)',
      '[run](javascript:document.title=3)',
      '- one\n- `two`',
      '```\nping  <b>host</b>\n```',
    ].join('\n\n'),
  });
  const visitor = await bed.open();
  const { page } = visitor;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).host));
  await signIn(bed, visitor, `/tickets/${tid}`);
  const message = page.getByRole('listitem').filter({ hasText: 'Slow network' });
  await message.locator('strong strong').getByText('network').waitFor();
  await message.getByText('<script>document.title=2</script>').waitFor();
  await message.getByText('(evil.example)').waitFor();
  await message.getByText('[run](javascript:document.title=3)').waitFor();
  expect(await message.locator('pre').innerText()).toBe('ping  <b>host</b>');
  expect(await message.locator('ul li code').innerText()).toBe('two');
  expect(await message.locator('img, script').count()).toBe(0);
  const leads = await message.getByRole('link', { name: 'your bank' }).getAttribute('rel');
  expect(leads).toContain('noopener');
  await page.getByRole('link', { name: 'asked.example.com' }).click();
  await page.waitForURL(`**/services/${serviceId}`);
  expect(new Set(asked)).toEqual(new Set([new URL(bed.url).host]));
  expect(await page.title()).toContain('Innkeeper');
  expect(visitor.complaints()).toEqual([]);
});

it('shows what nests without end as it was written, and is there at once', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  const endless = {
    quotes: '>'.repeat(3_900),
    lists: '- '.repeat(1_900),
    links: '['.repeat(2_000) + ']('.repeat(900),
    emphasis: '*a **a '.repeat(550),
    fences: '`'.repeat(3_900),
    tables: `${'|a'.repeat(100)}\n${'|-'.repeat(100)}\n${'|a\n'.repeat(1_100)}`,
    long: 'x'.repeat(49_000),
  };
  const tid = await newTicket({ message: `${word()} begins` });
  for (const [name, text] of Object.entries(endless))
    await bed.product.customer.post(`/dashboard/tickets/${tid}`, {
      message: `${name}\n\n${text}\n\n${name} ends`,
    });
  await signIn(bed, visitor, `/tickets/${tid}`);
  for (const name of Object.keys(endless)) await page.getByText(`${name} ends`).first().waitFor();
  expect(visitor.complaints()).toEqual([]);
});

it('begins a ticket that names the request which was refused', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/tickets');
  const request_id = `r-${word()}`;
  await page.route('**/api/dashboard/services?*', (route) =>
    route.fulfill({
      status: 409,
      json: { success: false, error: 'Conflict', code: 'conflict', message: 'It is not', request_id },
    }),
  );
  await page.getByRole('link', { name: 'Services', exact: true }).click();
  await page.getByRole('alert').getByRole('link', { name: 'Ask us about it' }).click();
  await page.unroute('**/api/dashboard/services?*');
  const message = page.getByRole('textbox', { name: 'Message' });
  expect(await message.inputValue()).toContain(request_id);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(/\/tickets\/(?!new)/);
  const tid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect((await seen(tid)).replies[0].message).toContain(request_id);
  // Whoever makes up an address writes nothing into a ticket by it.
  await page.goto('/tickets/new?request=Pay%20at%20evil.example');
  await message.waitFor();
  expect(await message.inputValue()).toBe('');
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  const tid = await newTicket({
    ...{ subject: 'W'.repeat(120), service_id: serviceId },
    message: `${'x'.repeat(400)}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| ${'y'.repeat(200)} | 2 |\n\n> said\n\n\`${'z'.repeat(200)}\``,
  });
  await bed.product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Hello, **we** look into it.' });
  const closed = await newTicket({});
  await bed.product.customer.post(`/dashboard/tickets/${closed}/close`);
  const found: string[] = [];
  for (const corner of [
    { viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-GB' },
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark', locale: 'de-DE' },
  ] as const) {
    const language = corner.locale.slice(0, 2);
    await bed.product.customer.post('/dashboard/account/preferences', { language });
    const visitor = await bed.open(corner);
    const { page } = visitor;
    await signIn(bed, visitor);
    const pages = ['/tickets', '/tickets?search=nothingatall', '/tickets/new?request=r-1'];
    for (const where of [...pages, `/tickets/${tid}`, `/tickets/${closed}`]) {
      await page.goto(where);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect
        .poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count(), { timeout: 20_000 })
        .toBe(0);
      for (const fault of [...(await visitor.faults()), ...visitor.complaints()])
        found.push(`${language} ${where}: ${fault}`);
    }
  }
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
  expect(found).toEqual([]);
});
