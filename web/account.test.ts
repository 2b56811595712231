/** Organization, account and keys in a real browser, against the product itself. */

import decodeQr from 'qr/decode.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addPasskeyDevice } from '../test/browser.ts';
import { apiClient } from '../test/client.ts';
import { newInvoice } from '../test/invoices.ts';
import { newCustomer, newMember } from '../test/people.ts';
import { type Bed, openBed, signIn, signInAs, type Visitor } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const ofOrganization = (rest = '') =>
  `/dashboard/organizations/${bed.product.demo.customer.organization_id}${rest}`;

async function invitationsOf() {
  const { body } = await bed.product.customer.get(ofOrganization('/invitations'));
  return body.data.invitations as { email: string; role: string }[];
}

describe('an organization', () => {
  it('gets another name, which the menu knows', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization');
    const name = page.getByLabel('Name', { exact: true }).first();
    // Until its form is drawn, the first field of that name is the one of another form.
    await expect.poll(() => name.inputValue()).not.toBe('');
    await name.fill('Novak & Daughters');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Novak & Daughters' }).waitFor();
    const { body } = await bed.product.customer.get(ofOrganization());
    expect(body.data.organization.name).toBe('Novak & Daughters');
    expect(visitor.complaints()).toEqual([]);
  });

  it('invites somebody, asks again, and takes it back', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/members');
    await page.getByLabel('E-mail address').fill('carla@example.com');
    await page.getByLabel('Role', { exact: true }).selectOption('technical');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('A mail is on its way to carla@example.com.').waitFor();
    expect(await invitationsOf()).toMatchObject([{ email: 'carla@example.com', role: 'technical' }]);
    await page.getByRole('button', { name: 'Send again to carla@example.com' }).click();
    await page.getByRole('button', { name: 'Withdraw the invitation of carla@example.com' }).click();
    await page.getByText('No invitation waits for an answer.').waitFor();
    expect(await invitationsOf()).toEqual([]);
    expect(visitor.complaints()).toEqual([]);
  });

  it('says what each role may do, and gives a member another one', async () => {
    const { organization_id: id } = bed.product.demo.customer;
    const member = await newMember(bed.product, id, 'viewer');
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/members');
    const roles = page.locator('section').filter({ hasText: 'What roles may do' });
    const [viewer = ''] = await roles
      .getByText(/^See members · See services/)
      .last()
      .allInnerTexts();
    expect(viewer).not.toContain('Start and stop machines');
    await roles
      .getByText(/Start and stop machines/)
      .first()
      .waitFor();
    const row = page.getByRole('row').filter({ hasText: member.email });
    await row.getByRole('combobox').selectOption('billing');
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await expect
      .poll(
        async () => (await bed.product.customer.get(ofOrganization(`/members/${member.userId}`))).body.data,
      )
      .toMatchObject({ member: { role: 'billing' } });
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    const left = await bed.product.customer.get(ofOrganization(`/members/${member.userId}`));
    expect(left.status).toBe(404);
  });

  it('shows what happened, and of one kind alone', async () => {
    await bed.product.customer.patch(ofOrganization(), { name: 'Novak Labs' });
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/activity');
    await page.getByRole('button', { name: 'organization_updated' }).first().click();
    await page.waitForURL(/action=organization_updated/);
    await page.getByText('Shown: organization_updated alone').waitFor();
    const actions = page.locator('tbody button');
    await expect
      .poll(async () => new Set(await actions.allInnerTexts()))
      .toEqual(new Set(['organization_updated']));
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => new Set(await actions.allInnerTexts()).size).toBeGreaterThan(1);
  });
});

describe('an account', () => {
  it('is called otherwise, and its pages are dark once it asks for that', async () => {
    const visitor = await bed.open({ colorScheme: 'light' });
    const { page } = visitor;
    await signIn(bed, visitor, '/account');
    await page.getByLabel('First name').fill('Adele');
    await page.getByLabel('Phone (optional)').fill('+43 1 5550100');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByText('Saved.').waitFor();
    await page.getByText('Adele Novak').waitFor();
    await page.getByLabel('Appearance').selectOption('dark');
    await page.getByLabel('Mail me news now and then').uncheck();
    await page.getByRole('button', { name: 'Save', exact: true }).last().click();
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    const { body } = await bed.product.customer.get('/dashboard/account');
    expect(body.data).toMatchObject({
      user: { first_name: 'Adele', phone: '+43 1 5550100' },
      preferences: { theme: 'dark', email_subscribed: false, notifications: { payments: true } },
    });
    await bed.product.customer.patch('/dashboard/account', { first_name: 'Ada', phone: null });
    await bed.product.customer.post('/dashboard/account/preferences', { theme: 'system' });
    expect(visitor.complaints()).toEqual([]);
  });

  it('gets a passkey, codes for the day without it, and is signed out everywhere else', async () => {
    const elsewhere = await bed.open();
    await signIn(bed, elsewhere);
    const visitor = await bed.open();
    const { page } = visitor;
    await addPasskeyDevice(page);
    await signIn(bed, visitor, '/account/security');
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    const asked = page.getByRole('dialog');
    await asked.getByRole('button', { name: 'Sign out everywhere else' }).click();
    const others = page.getByRole('button', { name: 'Sign out', exact: true });
    await expect.poll(() => others.count(), { timeout: 20_000 }).toBe(0);
    await elsewhere.page.reload();
    await elsewhere.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Keep these recovery codes').waitFor();
    await page.getByRole('button', { name: /^Rename / }).click();
    await asked.getByLabel('Name').fill('This laptop');
    await asked.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Remove This laptop' }).click();
    await asked.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('None yet.').waitFor();
    expect((await bed.product.customer.get('/dashboard/account/passkeys')).body.data.entries).toBe(0);
    expect(visitor.complaints()).toEqual([]);
  });

  it('shows the secret of an app as a picture that a camera reads', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/account/security');
    await page.getByRole('button', { name: 'Set up' }).click();
    const picture = page.getByRole('img', { name: /authenticator app/ });
    const path = (await picture.locator('path').getAttribute('d')) ?? '';
    const size = Number((await picture.getAttribute('viewBox'))?.split(' ')[2]);
    const secret = await page.locator('code').first().innerText();
    expect(read(path, size)).toContain(`secret=${secret}`);
    expect(visitor.complaints()).toEqual([]);
  });
});

/** What a QR code says that is drawn as squares, each a `M x y`. */
function read(path: string, size: number): string {
  const scale = 4;
  const width = size * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)/g))
    for (let row = 0; row < scale; row += 1)
      for (let column = 0; column < scale; column += 1) {
        const at = ((Number(y) * scale + row) * width + Number(x) * scale + column) * 4;
        data.fill(0, at, at + 3);
      }
  return decodeQr({ width, height: width, data });
}

describe('what programs use', () => {
  it('gets a key kept to machines, shown once, which works until it is revoked', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/developers');
    await page.getByLabel('Name').fill('Deploys');
    await page.getByLabel('Money and orders').uncheck();
    await page.getByLabel('Shield').uncheck();
    await page.getByLabel('Only from these addresses').fill('127.0.0.0/8\n::1');
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByText('The key “Deploys”').waitFor();
    const key = await page.getByRole('status').locator('code').innerText();
    const program = apiClient(`${bed.product.url}/api`, {
      token: key,
      organizationId: bed.product.demo.customer.organization_id,
    });
    expect((await program.get('/dashboard/services')).status).toBe(200);
    expect((await program.get('/dashboard/invoices')).status).toBe(403);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Rotate: Deploys' }).click();
    await page.getByRole('dialog').getByLabel('How long the old key goes on').selectOption('0');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await expect.poll(async () => page.getByRole('status').locator('code').innerText()).not.toBe(key);
    expect((await program.get('/dashboard/services')).status).toBe(401);
    expect(visitor.complaints()).toEqual([]);
  });

  it('gets an SSH key, and a webhook that is paused', async () => {
    const { customer } = bed.product;
    for (const where of ['/dashboard/account/ssh-keys', '/dashboard/webhooks']) {
      const { data } = (await customer.get(where)).body;
      for (const { id } of data.ssh_keys ?? data.webhooks)
        expect((await customer.delete(`${where}/${id}`)).status).toBe(200);
    }
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/developers/ssh-keys');
    await page.getByLabel('Name').fill('laptop');
    await page
      .getByLabel('Public key')
      .fill('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl laptop');
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.getByText('SHA256:').waitFor();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByLabel('Address').fill('https://hooks.example.com/innkeeper');
    await page.getByLabel('Only some events').check();
    await page.getByLabel('invoice.paid').check();
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByText('whsec_').waitFor();
    await page.getByRole('link', { name: 'https://hooks.example.com/innkeeper' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await page.getByText('"type": "webhook.test"').waitFor();
    const { body } = await customer.get('/dashboard/webhooks');
    expect(body.data.webhooks).toMatchObject([{ status: 'paused', events: ['invoice.paid'] }]);
    expect(visitor.complaints()).toEqual([]);
  });
});

describe('money', () => {
  it('is paid in the ways that are open, and whoever finds none is told so, and whom to write to', async () => {
    const poor = await newCustomer(bed.product);
    const theirs = await newInvoice(bed.product, poor);
    const stuck = await bed.open();
    await stuck.page.goto(`/invoices/${theirs}`);
    await signInAs(stuck.page, poor);
    const credit = stuck.page.getByRole('button', { name: /from credit$/ });
    await credit.waitFor();
    await stuck.page.keyboard.press('Tab');
    await credit.focus();
    const reason = stuck.page.getByRole('tooltip');
    await reason.waitFor();
    expect(await reason.innerText()).toContain('0.00 can be spent');
    // Nothing is paid online here, so no button says that it could be.
    expect(await stuck.page.getByRole('button', { name: 'Pay online' }).count()).toBe(0);
    await stuck.page.getByText('No way to pay this is open here at the moment.').waitFor();
    await stuck.page.getByRole('link', { name: 'Write to us' }).click();
    await stuck.page.getByRole('heading', { name: 'New ticket' }).waitFor();
    const { body: ways } = await poor.get(`/dashboard/invoices/${theirs}`);
    const closed = ways.data.payment_ways.map(({ reason }: { reason: string }) => reason).join();
    expect(closed).not.toMatch(/by transfer|pay online/);
    const invoiceId = await newInvoice(bed.product, bed.product.customer);
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, `/invoices/${invoiceId}`);
    await page.getByRole('button', { name: 'Cancel invoice' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel invoice' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    const { body } = await bed.product.customer.get(`/dashboard/invoices/${invoiceId}`);
    expect(body.data.invoice.status).toBe('cancelled');
    expect(visitor.complaints()).toEqual([]);
  });

  it('is asked for no more on a page that is open when somebody else cancels the invoice', async () => {
    const invoiceId = await newInvoice(bed.product, bed.product.customer);
    const visitor = await bed.open();
    const { page } = visitor;
    const streaming = page.waitForResponse('**/api/dashboard/events*');
    await signIn(bed, visitor, `/invoices/${invoiceId}`);
    const credit = page.getByRole('button', { name: /from credit$/ });
    await credit.waitFor();
    await streaming;
    await bed.product.customer.post(`/dashboard/invoices/${invoiceId}/cancel`);
    await page.getByText('Cancelled', { exact: true }).waitFor();
    expect(await credit.count()).toBe(0);
  });

  it('is put aside as credit, by an invoice', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/billing/credit');
    await page.getByLabel('Amount').fill('20');
    await page.getByRole('button', { name: 'Buy credit' }).click();
    await page.waitForURL(/\/invoices\//);
    await page.getByRole('heading', { name: 'Pay €20.00' }).waitFor();
    expect(visitor.complaints()).toEqual([]);
  });

  it('is owed by whom the billing profile names', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/billing/profile');
    await page.getByLabel('City').fill('Graz');
    await page.getByLabel('Your order number (optional)').fill('PO-17');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await bed.product.customer.get('/dashboard/billing/profile');
    expect(body.data.profile).toMatchObject({ city: 'Graz', order_number: 'PO-17' });
    expect(visitor.complaints()).toEqual([]);
  });
});

const pages = [
  ...['/organization', '/organization/members', '/organization/activity', '/account', '/account/security'],
  ...['/developers', '/developers/ssh-keys', '/developers/webhooks'],
  ...['/billing', '/billing/credit', '/billing/payment-methods', '/billing/profile'],
];
const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

describe('each of these pages', { timeout: 240_000 }, () => {
  it.each(corners)('breaks no rule of WCAG 2.2 AA and needs no moving sideways: $name', async (corner) => {
    const { customer } = bed.product;
    await customer.post(ofOrganization('/invitations'), {
      ...{ email: `${'long'.repeat(12)}@${'very-long-name'.repeat(3)}.example.com`, role: 'viewer' },
    });
    await customer.post('/dashboard/account/preferences', {
      language: corner.name.endsWith('German') ? 'de' : 'en',
    });
    const visitor = await bed.open(corner);
    await signIn(bed, visitor);
    const found: string[] = [];
    for (const where of pages) found.push(...(await look(visitor, where)));
    await customer.post('/dashboard/account/preferences', { language: 'en' });
    expect(found).toEqual([]);
  });
});

async function look({ page, faults, complaints }: Visitor, where: string): Promise<string[]> {
  await page.goto(where);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect
    .poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count(), { timeout: 20_000 })
    .toBe(0);
  const { WEB_SHOTS: shots } = process.env;
  if (shots) {
    const name = `${page.viewportSize()?.width}${where.replaceAll('/', '-')}.png`;
    await page.screenshot({ path: `${shots}/${name}`, fullPage: true });
  }
  return [...(await faults()), ...complaints()].map((fault) => `${where}: ${fault}`);
}
