import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../../test/smtp.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';
import { transaction } from '../../platform/index.ts';
import { examples } from '../../settings/brand/examples.ts';
import { type DeliveryReport, takeDeliveryReport } from '../index.ts';

const changes = watchChanges();

let server: MailServer;
let product: TestProduct;
beforeAll(async () => {
  server = await mailServer();
  const env = { SMTP_URL: server.url, PUBLIC_URL: 'https://inn.example' };
  product = await startTestProduct({ env });
});
beforeEach(() => {
  server.refuseWith(null);
  server.mails.length = 0;
});
afterAll(async () => {
  await product.stop();
  await server.close();
});

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

async function logOf(person: Person) {
  const { body } = await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(person.email)}`);
  return body.data.mails as { id: number; event: string; state: string; error: string; answer: string }[];
}

/** Somebody who ordered and paid: a bill, and what nobody has to have. */
async function paid(): Promise<Person> {
  const person = await newCustomer(product, { creditMinor: 600 });
  await order(person);
  return person;
}
async function order(person: Person): Promise<void> {
  await payByCredit(person, await newInvoice(product, person));
  await settled(product);
}
const mailAbout = (words: RegExp) => server.mails.find(({ plain }) => words.test(plain));

describe('a mail', () => {
  it('is in the language of who reads it, money and days too', async () => {
    const person = await newCustomer(product, { firstName: 'Ada' });
    await person.post('/dashboard/account/preferences', { language: 'de' });
    const id = await newInvoice(product, person);
    await settled(product);
    const [mail] = server.mails;
    expect(mail?.html).toContain('<html lang="de">');
    for (const part of [mail?.plain, mail?.html]) {
      expect(part).toContain('Guten Tag Ada Person,');
      expect(part?.replaceAll('\u00a0', ' ').replaceAll('&nbsp;', ' ')).toContain('3,00 €');
    }
    expect(await logOf(person)).toMatchObject([
      { language: 'de', subject: `Ihre Bestellung: Rechnung ${id}` },
    ]);
  });

  it('shows the company as staff has set it, and what the server said stands in the log', async () => {
    await product.staff.patch('/staff/settings', {
      company: { name: '<b>Ours</b> B.V.', city: 'Amsterdam' },
    });
    const person = await paid();
    expect(server.mails[0]?.html).toContain('&lt;b&gt;Ours&lt;/b&gt; B.V.');
    expect(server.mails[0]?.plain).toContain('<b>Ours</b> B.V.\nAmsterdam');
    expect((await logOf(person))[0]).toMatchObject({ state: 'sent', answer: expect.stringContaining('250') });
    await product.staff.patch('/staff/settings', { company: { name: '', city: null } });
  });
});

describe('the logo', () => {
  const { content_base64: content } = examples.addBrandPicture.body;
  const set = (logo: string | null) =>
    product.staff.patch('/staff/settings', { brand: { logo_light: logo, logo_dark: null } });

  it('travels with the mail, which nothing is fetched for; without it, or when it cannot be read, the name stands there', async () => {
    const { picture } = (await product.staff.post('/staff/brand/pictures', { content_base64: content })).body
      .data;
    await set(picture);
    await paid();
    expect(server.mails.length).toBeGreaterThan(0);
    for (const { html } of server.mails) {
      expect(html).toContain(`<img src="data:image/png;base64,${content}" alt="`);
      expect(html).not.toMatch(/src="https?:/);
    }
    server.mails.length = 0;
    await set('0123456789abcdef0123456789abcdef.png');
    await paid();
    expect(server.mails.length).toBeGreaterThan(0);
    for (const { html } of server.mails) expect(html).not.toContain('<img');
    await set(null);
  });
});

it('has the font and the corners of the brand, as it is when it leaves', async () => {
  const set = (brand: object) => product.staff.patch('/staff/settings', { brand });
  await set({ font: 'serif', radius: 21 });
  server.mails.length = 0;
  await paid();
  const { html = '' } = mailAbout(/We received/) ?? {};
  expect(html).toContain(`font:16px/1.55 'Iowan Old Style', Charter`);
  expect(html).toMatch(/class="sheet" style="[^"]*border-radius:21px/);
  await set({ font: 'system', radius: 8 });
});

describe('one click', () => {
  const open = (url: string, method: string, body?: string) =>
    fetch(url.replace('https://inn.example', product.url), {
      method,
      ...(body && { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    });
  const notifications = async (person: Person) =>
    (
      await sql<{ notifications: object }>(
        product,
        'select notifications from users where id = $1',
        person.userId,
      )
    )[0]?.notifications;

  it('ends mails that nobody has to have, and bills go on', async () => {
    const person = await paid();
    const headers = headersOf(mailAbout(/We received/)?.text ?? '');
    expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    const url = headers['list-unsubscribe']?.slice(1, -1) ?? '';
    expect(mailAbout(/We received/)?.plain).toContain(url);
    const page = await open(url, 'GET');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('<form method="post">');
    expect(await notifications(person)).toEqual({}); // programs that look through mails open links
    expect((await open(url, 'POST', 'List-Unsubscribe=One-Click')).status).toBe(200);
    expect(await notifications(person)).toEqual({ payments: false });
    server.mails.length = 0;
    await order(person);
    expect(mailAbout(/We received/)).toBeUndefined();
    expect(mailAbout(/Thank you for your order/)).toBeDefined();
  });

  it('is never offered for bills', async () => {
    await paid();
    expect(headersOf(mailAbout(/Thank you for your order/)?.text ?? '')).not.toHaveProperty(
      'list-unsubscribe',
    );
    expect(mailAbout(/Thank you for your order/)?.plain).not.toContain('unsubscribe');
  });

  it('with a token of another person, kind or make changes nothing', async () => {
    const [one, other] = [await paid(), await newCustomer(product)];
    const token =
      headersOf(mailAbout(/We received/)?.text ?? '')['list-unsubscribe']?.match(/token=([^>]+)/)?.[1] ?? '';
    const before = await settledContents(product);
    const forged = [
      token.replace(String(one.userId), String(other.userId)),
      token.replace('payments', 'services'),
      token.replace('payments', 'nothing'),
      `${token.slice(0, -2)}AA`,
      `${one.userId}.payments.`,
      `${one.userId}.__proto__.x`,
    ];
    for (const each of forged) {
      const url = `${product.url}/api/mail/unsubscribe?token=${encodeURIComponent(each)}`;
      expect((await open(url, 'POST', 'List-Unsubscribe=One-Click')).status, each).toBe(400);
    }
    expect(await contents(product)).toEqual(before);
  });
});

describe('staff', () => {
  it('sends a mail again, which is a new one for whoever gets it', async () => {
    const person = await paid();
    const [{ id } = { id: 0 }] = await logOf(person);
    const before = server.mails.length;
    const { status, body } = await product.staff.post(`/staff/mails/${id}/send-again`);
    expect([status, body.data.mail.state, body.data.mail.sendings]).toEqual([200, 'queued', 2]);
    await settled(product);
    expect(server.mails).toHaveLength(before + 1);
    const ids = server.mails.map(({ text }) => headersOf(text)['message-id']);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await product.staff.get(`/staff/mails/${id}`)).body.data.mail).toMatchObject({
      id,
      state: 'sent',
    });
  });

  it('cannot send what is under way or is not there', async () => {
    server.refuseWith(451);
    const person = await newCustomer(product);
    await newInvoice(product, person);
    await expect.poll(async () => (await logOf(person)).length).toBe(1);
    const [{ id } = { id: 0 }] = await logOf(person);
    expect(face(await product.staff.post(`/staff/mails/${id}/send-again`))).toEqual([409, 'mail_under_way']);
    server.refuseWith(null);
    await settled(product);
    expect(face(await product.staff.post('/staff/mails/4503599627370999/send-again'))).toEqual([
      404,
      'not_found',
    ]);
  });
});

describe('a mail that comes back', () => {
  const report = (person: Person, change: Partial<DeliveryReport>): DeliveryReport => ({
    messageId: headersOf(mailAbout(/We received/)?.text ?? '')['message-id'] ?? '',
    recipient: person.email.toUpperCase(),
    ...{ action: 'failed', status: '5.1.1', diagnostic: 'no such mailbox' },
    ...change,
  });
  const take = (given: DeliveryReport) =>
    transaction(product.ctx, 'test.report', (tx) => takeDeliveryReport(tx, given));

  it('is failed, its address marked, and staff told; sent again, it counts as good', async () => {
    const person = await paid();
    expect(await take(report(person, {}))).toBe('marked');
    expect(await take(report(person, {}))).toBe('marked'); // the same once more
    const [mail] = (await logOf(person)).filter(({ event }) => event === 'invoice.paid');
    expect(mail).toMatchObject({ state: 'failed', error: '5.1.1 no such mailbox' });
    expect(mail).toHaveProperty('address_bounced_at', expect.stringMatching(/Z$/));
    const concerns = (await product.staff.get('/staff/attention')).body.data.concerns;
    expect(JSON.stringify(concerns)).toContain('no such mailbox');
    server.mails.length = 0;
    await order(person);
    expect(server.mails.map(({ text }) => headersOf(text).subject)).toEqual([
      expect.stringMatching(/^Your order/),
    ]);
    await product.staff.post(`/staff/mails/${mail?.id}/send-again`);
    await settled(product);
    for (const each of await logOf(person)) expect(each).toHaveProperty('address_bounced_at', null);
  });

  it.each([
    ['another address', { recipient: 'other@example.com' }, 'unknown'],
    ['a mail that there is not', { messageId: '<4503599627370999.1.x@inn.example>' }, 'unknown'],
    ['no mail of ours', { messageId: '<abc@example.com>' }, 'unknown'],
    ['a mail that is only late', { action: 'delayed', status: '4.4.1' }, 'noted'],
    ['a mailbox that is full', { status: '4.2.2' }, 'noted'],
  ] as const)('changes nothing when the report is about %s', async (_, change, answer) => {
    const person = await paid();
    const before = await settledContents(product);
    expect(await take(report(person, change))).toBe(answer);
    expect(await contents(product)).toEqual(before);
  });

  it('at once, since its server knows no such address, is marked as well', async () => {
    server.refuseWith(550);
    const person = await newCustomer(product);
    await newInvoice(product, person);
    await settled(product);
    const marked = 'select 1 from bounced_addresses where address = $1';
    expect(await sql(product, marked, person.email.toLowerCase())).toHaveLength(1);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['unsubscribe', 'sendMailAgain']));
