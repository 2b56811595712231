import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../../../test/child.ts';
import { apiClient } from '../../../test/client.ts';
import { testDatabase } from '../../../test/database.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../../test/smtp.ts';
import { settled, sql } from '../../../test/sql.ts';

let server: MailServer;
let product: TestProduct;
beforeAll(async () => {
  server = await mailServer();
  product = await startTestProduct({
    env: {
      SMTP_URL: server.url,
      MAIL_FROM: 'Innkeeper <billing@inn.example>',
      PUBLIC_URL: 'https://inn.example',
    },
  });
});
beforeEach(() => {
  server.refuseWith(null);
  server.mails.length = 0;
  server.refused = 0;
});
afterAll(async () => {
  await product.stop();
  await server.close();
});

async function loggedMails(recipient: string, staff = product.staff) {
  const { body } = await staff.get(`/staff/mails?recipient=${encodeURIComponent(recipient)}`);
  return body.data.mails as { subject: string; body: string; state: string; error: string | null }[];
}

/** Orders, and waits until its confirmation is no longer under way. */
async function order(person: Person): Promise<number> {
  const id = await newInvoice(product, person);
  await settled(product);
  return id;
}

describe('the confirmation of an order', () => {
  it('arrives once, at who ordered, and says what to pay until when', async () => {
    const person = await newCustomer(product, { firstName: 'Ada' });
    const id = await order(person);
    expect(server.mails).toHaveLength(1);
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'billing@inn.example', to: [person.email] });
    const headers = headersOf(mail?.text ?? '');
    expect(headers.subject).toBe(`Your order: invoice ${id}`);
    expect(headers['message-id']).toMatch(/^<\d+\.1\.invoice\.created@inn\.example>$/);
    expect(headers['auto-submitted']).toBe('auto-generated');
    for (const part of [mail?.plain, mail?.html]) {
      expect(part).toContain('Hello Ada,');
      expect(part).toContain('€3.00');
    }
    expect(await loggedMails(person.email)).toMatchObject([{ state: 'sent', error: null }]);
  });

  it('goes to the billing address of whoever has one', async () => {
    const person = await newCustomer(product);
    await sql(product, `update users set billing_email = 'books@example.com' where id = $1`, person.userId);
    await order(person);
    expect(server.mails.map((mail) => mail.to)).toEqual([['books@example.com']]);
  });

  it('arrives once although the server refuses at first', async () => {
    server.refuseWith(451);
    const person = await newCustomer(product);
    await newInvoice(product, person);
    await until(
      async () => server.refused,
      (count) => count >= 2,
    );
    expect(await loggedMails(person.email)).toMatchObject([{ state: 'queued' }]);
    server.refuseWith(null);
    await settled(product);
    expect(server.mails.map((mail) => mail.to)).toEqual([[person.email]]);
  });

  it('that the server will never take is written down as failed, and the order stands', async () => {
    server.refuseWith(550);
    const person = await newCustomer(product);
    const id = await order(person);
    expect(server.mails).toEqual([]);
    expect(await loggedMails(person.email)).toMatchObject([
      { state: 'failed', error: expect.stringContaining('550') },
    ]);
    const invoice = await person.get(`/dashboard/invoices/${id}`);
    expect(invoice.body.data.invoice.status).toBe('unpaid');
  });

  it('is not sent for an order that was refused', async () => {
    const person = await newCustomer(product);
    await person.post('/cart/checkout/invoice', { products: [] });
    await settled(product);
    expect(server.mails).toEqual([]);
  });

  it('is sent once for an order that came twice with one Idempotency-Key', async () => {
    const person = await newCustomer(product);
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const headers = { 'idempotency-key': 'once' };
    for (let time = 0; time < 3; time += 1)
      await person.post('/cart/checkout/invoice', { products: [item] }, headers);
    await settled(product);
    expect(server.mails).toHaveLength(1);
  });

  it('arrives once although the product dies before the server takes it', { timeout: 60_000 }, async () => {
    const database = await testDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-mail-'));
    const env = { DATABASE_URL: database.url, SMTP_URL: server.url, HYPERVISOR: 'simulator' };
    server.refuseWith(451);
    const first = await startChild(dataDir, env);
    const { api_key: token, organization_id: organizationId, email } = first.demo.customer;
    const client = apiClient(`${first.url}/api`, { token, organizationId });
    const item = { id: first.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    expect((await client.post('/cart/checkout/invoice', { products: [item] })).status).toBe(200);
    await until(
      async () => server.refused,
      (count) => count > 0,
    );
    await first.end('SIGKILL');
    server.refuseWith(null);
    const second = await startChild(dataDir, env);
    await settled({ databaseUrl: database.url });
    expect(server.mails.map((mail) => mail.to)).toEqual([[email]]);
    await second.end('SIGTERM');
    await database.drop();
    await removeDataDir(dataDir);
  });
});

describe('the mails of an organization', () => {
  /** An organization with an owner, an admin who ordered, and a technician who is nobody's addressee. */
  async function company() {
    const owner = await newCustomer(product);
    const admin = await newMember(product, owner.organizationId, 'admin');
    await newMember(product, owner.organizationId, 'technical');
    return { owner, admin, organizationId: owner.organizationId };
  }
  const leave = (person: Person) => sql(product, 'delete from memberships where user_id = $1', person.userId);
  const recipients = () => server.mails.flatMap(({ to }) => to).toSorted();
  const remind = async (organizationId: number) => {
    server.mails.length = 0;
    await sql(
      product,
      `update invoices set expires_at = created_at where organization_id = $1 and status = 'unpaid'`,
      organizationId,
    );
    await product.periodic('billing.expire');
    await settled(product);
  };

  it('go to who ordered while a member, then to all active owners, and bills to the address for them', async () => {
    const { owner, admin, organizationId } = await company();
    await order(admin);
    expect(recipients()).toEqual([admin.email]);
    await leave(admin);
    const second = await newMember(product, organizationId, 'owner');
    const closed = await newMember(product, organizationId, 'owner');
    await sql(product, `update users set status = 'closed' where id = $1`, closed.userId);
    await remind(organizationId);
    expect(recipients()).toEqual([owner.email, second.email].toSorted());

    await order(owner);
    await owner.patch('/dashboard/billing/profile', { email: 'ap@example.com' });
    await remind(organizationId);
    expect(recipients()).toEqual(['ap@example.com']);
  });

  it('about a service go to its people, not to the address for bills', async () => {
    const { owner, admin, organizationId } = await company();
    await owner.patch('/dashboard/billing/profile', { email: 'ap@example.com' });
    const id = await order(admin);
    await product.staff.post(`/staff/organizations/${organizationId}/credit`, {
      ...{ amount: '10.00', currency: 'EUR', description: 'For a test' },
    });
    await payByCredit(owner, id);
    await settled(product);
    await leave(admin);
    server.mails.length = 0;
    const [service] = await sql<{ id: number }>(product, 'select id from services where invoice_id = $1', id);
    await product.staff.post(`/staff/services/${service?.id}/deliver`, {});
    await product.staff.post(`/staff/services/${service?.id}/suspend`, { reason: 'Abuse' });
    await settled(product);
    expect(new Set(recipients())).toEqual(new Set([owner.email]));
    expect(server.mails.map(({ text }) => headersOf(text).subject)).toContain('Web hosting is suspended');
  });

  it('that nobody is left to get are in the list of staff', async () => {
    const { owner, organizationId } = await company();
    await order(owner);
    await sql(product, `update users set status = 'blocked' where id = $1`, owner.userId);
    await remind(organizationId);
    expect(recipients()).toEqual([]);
    const { body } = await product.staff.get('/staff/attention');
    expect(JSON.stringify(body)).toContain(`nobody of organization ${organizationId} can be told`);
  });
});

describe('other mails', () => {
  it('tell of a payment', async () => {
    const person = await newCustomer(product, { creditMinor: 300 });
    const id = await newInvoice(product, person);
    await payByCredit(person, id);
    await settled(product);
    const subjects = server.mails.map((mail) => headersOf(mail.text).subject);
    expect(subjects.toSorted()).toEqual([
      `Payment received for invoice ${id}`,
      'We are setting up Web hosting',
      `Your order: invoice ${id}`,
    ]);
  });
});

describe('the mail about money', () => {
  /** What the last mail says, to whom it went; the mails before it are of the order. */
  function lastMail() {
    const mail = server.mails.at(-1);
    return { to: mail?.to, subject: headersOf(mail?.text ?? '').subject, text: mail?.plain ?? '' };
  }

  async function expired(person: Person): Promise<number> {
    const id = await newInvoice(product, person);
    await sql(product, `update invoices set expires_at = created_at where id = $1`, id);
    await product.periodic('billing.expire');
    await settled(product);
    return id;
  }

  it('of an order that expired says that nothing is owed', async () => {
    const person = await newCustomer(product);
    const id = await expired(person);
    expect(lastMail()).toMatchObject({ to: [person.email], subject: `Invoice ${id} is cancelled` });
    expect(lastMail().text).toContain('€3.00 was not paid in time');
  });

  it('of a refund goes to the customer with amount and reason, once for each part', async () => {
    const person = await newCustomer(product, { creditMinor: 300 });
    const id = await newInvoice(product, person);
    await payByCredit(person, id);
    await settled(product);
    for (const amount of ['1.00', '2.00']) {
      await product.staff.post(`/staff/invoices/${id}/refund`, {
        amount,
        reason: 'A slow week',
        method: 'credit',
      });
      await settled(product);
      expect(lastMail()).toMatchObject({ to: [person.email], subject: `Refund for invoice ${id}` });
      expect(lastMail().text).toContain(`€${amount}`);
      expect(lastMail().text).toContain('Reason: A slow week');
    }
    // The order, its payment, its delivery that staff is at, and two refunds.
    expect(server.mails).toHaveLength(5);
  });

  it('of a transfer that came too late says that it became credit', async () => {
    const person = await newCustomer(product);
    const id = await expired(person);
    const transfer = { amount: '3.00', reference: `late ${id}` };
    expect((await product.staff.post(`/staff/invoices/${id}/payments`, transfer)).status).toBe(200);
    await settled(product);
    expect(lastMail()).toMatchObject({
      to: [person.email],
      subject: `Your payment for invoice ${id} became credit`,
    });
    expect(lastMail().text).toContain('€3.00');
  });

  it('is not written for credit that staff gives without an invoice', async () => {
    const person = await newCustomer(product);
    const grant = { amount: '5.00', currency: 'EUR', description: 'Welcome' };
    const path = `/staff/organizations/${person.organizationId}/credit`;
    expect((await product.staff.post(path, grant)).status).toBe(200);
    await settled(product);
    expect(server.mails).toEqual([]);
  });
});

describe('a name', () => {
  it.each([
    'Ada\r\nBcc: evil@example.com',
    'Ada\nSubject: Free',
    'Ada\r\n\r\n<h1>',
    'Ada\u2028Bcc: x@example.com',
  ])('cannot become a header or a recipient: %j', async (firstName) => {
    const person = await newCustomer(product, { firstName });
    const id = await order(person);
    const [mail] = server.mails;
    expect(mail?.to).toEqual([person.email]);
    const headers = headersOf(mail?.text ?? '');
    expect(headers).not.toHaveProperty('bcc');
    expect(headers.subject).toBe(`Your order: invoice ${id}`);
    expect(headers.to).toBe(person.email);
  });

  it('of a product cannot either', async () => {
    const path = `/staff/products/${product.demo.products.hosting}`;
    await product.staff.patch(path, { name: 'Hosting\r\n.\r\nBcc: evil@example.com' });
    const person = await newCustomer(product);
    await order(person);
    await product.staff.patch(path, { name: 'Web hosting' });
    expect(server.mails.map((mail) => mail.to)).toEqual([[person.email]]);
    expect(headersOf(server.mails[0]?.text ?? '')).not.toHaveProperty('bcc');
  });

  it.each([
    'a@example.com, evil@example.com',
    'a@example.com\r\nBcc: evil@example.com',
    '"x" <evil@example.com>, a@b.example',
  ])('that is no single address gets nothing sent: %j', async (address) => {
    const person = await newCustomer(product);
    await sql(product, 'update users set billing_email = $2 where id = $1', person.userId, address);
    await order(person);
    expect(server.mails).toEqual([]);
    expect(await loggedMails(address)).toMatchObject([{ state: 'failed' }]);
  });
});

describe('without a mail server', () => {
  it('mails are kept, and staff reads them', async () => {
    const bare = await startTestProduct();
    const person = await newCustomer(bare);
    const id = await newInvoice(bare, person);
    await settled(bare);
    const mails = await loggedMails(person.email, bare.staff);
    expect(mails).toMatchObject([{ state: 'kept', subject: `Your order: invoice ${id}` }]);
    expect(mails[0]?.body).toMatch(/To pay: +€3\.00/);
    await bare.stop();
  });
});
