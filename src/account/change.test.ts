import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../test/invoices.ts';
import { watchChanges } from '../../test/noted.ts';
import { plantPasskey } from '../../test/passkeys.ts';
import { cookiesOf, newCustomer, type Person, sessionOf, signedIn } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  person = await newCustomer(product);
});
afterAll(() => product.stop());

const path = '/dashboard/account';
const minute = 60_000;
const day = 24 * 60 * minute;
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const newAddress = () => `${randomBytes(6).toString('hex')}@example.com`;

interface Mail {
  subject: string;
  body: string;
}

async function mailsTo(email: string): Promise<Mail[]> {
  await settled(product);
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

async function tokenTo(email: string): Promise<string> {
  const [mail] = await mailsTo(email);
  return /\?token=([\w-]+)/.exec(mail?.body ?? '')?.[1] ?? '';
}

const follow = (what: 'confirm' | 'revoke', token: string) =>
  product.nobody.post(`/auth/email/change/${what}`, { token });
const logIn = (email: string, password: string) => product.nobody.post('/auth/login', { email, password });

/** Somebody whose account has a new address since now. */
async function moved() {
  const someone = await newCustomer(product);
  const session = await signedIn(product, someone);
  const email = newAddress();
  expect((await session.patch(path, { email })).status).toBe(200);
  expect((await follow('confirm', await tokenTo(email))).body.data).toEqual({ email_changed: true });
  return { someone, session, email };
}

describe('what an account says of its person', () => {
  it('is changed in part: what is absent stays, null clears, and the journal names the fields alone', async () => {
    const someone = await newCustomer(product);
    const changed = await someone.patch(path, {
      first_name: 'Ada',
      phone: '+31 20 555 0100',
      abuse_email: 'a@b.example',
    });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(changed.body.data.user).toMatchObject({
      ...{ first_name: 'Ada', last_name: 'Person', phone: '+31 20 555 0100', abuse_email: 'a@b.example' },
      ...{ billing_email: null, email: someone.email, pending_email: null },
    });
    const cleared = await someone.patch(path, { phone: null });
    expect(cleared.body.data.user).toMatchObject({
      phone: null,
      first_name: 'Ada',
      abuse_email: 'a@b.example',
    });
    await someone.patch(path, { first_name: 'Ada' });
    const entries = await sql<{ data: { fields: string[] } }>(
      product,
      `select data from journal where action = 'account.updated' and user_id = $1 order by id`,
      someone.userId,
    );
    expect(entries.map(({ data }) => data.fields)).toEqual([
      ['first_name', 'phone', 'abuse_email'],
      ['phone'],
    ]);
  });

  it.each([
    [{ first_name: '' }],
    [{ first_name: null }],
    [{ first_name: 'A\nB' }],
    [{ phone: 'call me' }],
    [{ billing_email: 'nobody' }],
    [{ billing_email: 'a@b.example, c@d.example' }],
    [{ email: 'аda@example.com' }],
    [{ password: 'short', current_password: 'x' }],
    [{ password: 'seven otters read maps' }],
    [{ current_password: 'seven otters read maps' }],
    ...['role', 'staff_role', 'credit', 'status', 'email_verified', 'id', '__proto__'].map((name) => [
      JSON.parse(`{ "${name}": "administrator" }`),
    ]),
  ])('is not changed to %j', async (body) => {
    await settled(product);
    const before = await contents(product);
    expect(face(await person.patch(path, body))).toEqual([400, 'invalid_request']);
    expect(await contents(product)).toEqual(before);
  });

  it('may have been read before somebody else did something', async () => {
    const someone = await newCustomer(product);
    const tag = (await someone.get(path)).headers.get('etag') ?? '';
    const other = await newCustomer(product);
    expect((await other.patch(path, { first_name: 'Eve' })).status).toBe(200);
    product.clock.travel(minute); // what happened is told once all that began before it has ended
    expect((await someone.patch(path, { first_name: 'Ada' }, { 'if-match': tag })).status).toBe(200);
    expect(face(await someone.patch(path, { first_name: 'Eve' }, { 'if-match': tag }))[0]).toBe(412);
  });

  it('is not for a key that is kept to an area', async () => {
    const someone = await newCustomer(product);
    await sql(product, 'update api_keys set billing = false where user_id = $1', someone.userId);
    expect(face(await someone.patch(path, { first_name: 'Eve' }))).toEqual([403, 'permission_denied']);
    expect(face(await someone.post(`${path}/preferences`, { theme: 'dark' }))).toEqual([
      403,
      'permission_denied',
    ]);
    expect((await someone.get(path)).status).toBe(200);
  });
});

describe('a password', () => {
  const password = 'nine herons fold linen';

  it('is changed with the one before; other sessions end, and this one has a new cookie', async () => {
    const someone = await newCustomer(product);
    const [asking, other] = [await signedIn(product, someone), await signedIn(product, someone)];
    const changed = await asking.patch(path, { password, current_password: someone.password });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    for (const gone of [asking, other]) expect((await gone.get(path)).status).toBe(401);
    const goesOn = await sessionOf(product, changed, someone.organizationId);
    expect(goesOn.sessionId).toBe(asking.sessionId);
    expect((await goesOn.get(path)).status).toBe(200);
    expect(face(await logIn(someone.email, someone.password))).toEqual([401, 'invalid_credentials']);
    expect((await logIn(someone.email, password)).status).toBe(200);
    expect((await mailsTo(someone.email)).map(({ subject }) => subject)).toContain(
      'Your password was changed',
    );
    expect(JSON.stringify(await contents(product))).not.toContain(password);
  });

  it('is not changed without it, by a key, or to one that is guessed first', async () => {
    const someone = await newCustomer(product, { firstName: 'Wilhelmina' });
    const session = await signedIn(product, someone);
    const set = (who: typeof session | Person, body: object) => who.patch(path, body);
    expect(face(await set(session, { password, current_password: 'not the one' }))).toEqual([
      ...[401, 'invalid_credentials'],
    ]);
    expect(face(await set(someone, { password, current_password: someone.password }))).toEqual([
      ...[403, 'session_required'],
    ]);
    for (const bad of ['password2026!', 'wilhelmina is my name'])
      expect(face(await set(session, { password: bad, current_password: someone.password }))).toEqual([
        ...[400, 'password_refused'],
      ]);
    expect((await session.get(path)).status).toBe(200);
    expect((await logIn(someone.email, someone.password)).status).toBe(200);
  });
});

describe('another address', () => {
  it('counts once it is confirmed where it is, and until then the one before does', async () => {
    const someone = await newCustomer(product);
    const session = await signedIn(product, someone);
    const email = newAddress();
    const asked = (await session.patch(path, { email })).body.data.user;
    expect(asked).toMatchObject({ email: someone.email, pending_email: email });
    expect((await logIn(email, someone.password)).status).toBe(401);
    const [mail] = await mailsTo(email);
    expect(mail).toMatchObject({ subject: 'Confirm your new address' });
    const token = await tokenTo(email);
    expect((await follow('confirm', token)).body.data).toEqual({ email_changed: true });
    expect(face(await follow('confirm', token))).toEqual([400, 'invalid_link']);
    expect((await session.get(path)).body.data.user).toMatchObject({
      email,
      pending_email: null,
      email_verified: true,
    });
    expect((await logIn(email, someone.password)).status).toBe(200);
    expect((await logIn(someone.email, someone.password)).status).toBe(401);
    const kept = JSON.stringify(await contents(product));
    for (const secret of [token, await tokenTo(someone.email)]) expect(kept).not.toContain(secret);
  });

  it('is told of where it is now as soon as it is asked for, the same whether somebody has it', async () => {
    const someone = await newCustomer(product);
    const session = await signedIn(product, someone);
    const told = async () =>
      (await mailsTo(someone.email)).filter(({ subject }) => /is to have another address/.test(subject));
    await session.patch(path, { email: newAddress() });
    await session.patch(path, { email: person.email });
    const [second, first] = await told();
    expect(second?.body).toBe(first?.body);
    expect(first?.body).not.toContain('token=');
  });

  it('is had back from the one before for seven days: sessions end, and the password is good no more', async () => {
    const { someone, session, email } = await moved();
    const token = await tokenTo(someone.email);
    const thiefs = newAddress();
    await session.patch(path, { email: thiefs });
    await follow('confirm', await tokenTo(thiefs));
    const pending = newAddress();
    await session.patch(path, { email: pending });
    product.clock.travel(7 * day - 2 * minute);
    expect((await follow('revoke', token)).body.data).toEqual({ email_restored: true });
    expect((await session.get(path)).status).toBe(401);
    for (const address of [someone.email, email, thiefs])
      expect(face(await logIn(address, someone.password))).toEqual([401, 'invalid_credentials']);
    // Whoever took it has nothing left to take it again with.
    expect(face(await follow('revoke', await tokenTo(email)))).toEqual([400, 'invalid_link']);
    expect(face(await follow('confirm', await tokenTo(pending)))).toEqual([400, 'invalid_link']);
    expect(face(await follow('revoke', token))).toEqual([400, 'invalid_link']);
    const password = 'nine herons fold linen';
    const reset = { token: await tokenTo(someone.email), password };
    expect((await product.nobody.post('/auth/password/reset', reset)).status).toBe(200);
    expect((await logIn(someone.email, password)).status).toBe(200);
  });

  it('is not confirmed any more once the password was set anew', async () => {
    const someone = await newCustomer(product);
    const thiefs = newAddress();
    await (await signedIn(product, someone)).patch(path, { email: thiefs });
    const token = await tokenTo(thiefs);
    await product.nobody.post('/auth/password/forgot', { email: someone.email });
    const reset = { token: await tokenTo(someone.email), password: 'nine herons fold linen' };
    expect((await product.nobody.post('/auth/password/reset', reset)).status).toBe(200);
    expect(face(await follow('confirm', token))).toEqual([400, 'invalid_link']);
  });

  it('is asked for together with another password', async () => {
    const someone = await newCustomer(product);
    const [email, password] = [newAddress(), 'nine herons fold linen'];
    const body = { email, password, current_password: someone.password };
    expect((await (await signedIn(product, someone)).patch(path, body)).status).toBe(200);
    expect((await follow('confirm', await tokenTo(email))).status).toBe(200);
    expect((await logIn(email, password)).status).toBe(200);
  });

  it('is had back with all that was added since taken away, and what was there before left', async () => {
    const { someone, session } = await moved();
    const before = await sql(product, 'select id from api_keys where user_id = $1', someone.userId);
    const { status } = await session.post('/dashboard/account/api-keys', { name: 'for later' });
    expect(status).toBe(200);
    await plantPasskey(product, someone.userId);
    await follow('revoke', await tokenTo(someone.email));
    const good = 'select id from api_keys where user_id = $1 and revoked_at is null';
    expect(await sql(product, good, someone.userId)).toEqual(before);
    expect(await sql(product, 'select id from passkeys where user_id = $1', someone.userId)).toEqual([]);
  });

  it('is not had back after seven days', async () => {
    const { someone } = await moved();
    product.clock.travel(7 * day + minute);
    expect(face(await follow('revoke', await tokenTo(someone.email)))).toEqual([400, 'invalid_link']);
    await product.periodic('account.purgeEmailChanges');
    expect(await sql(product, 'select id from email_changes where user_id = $1', someone.userId)).toEqual([]);
  });

  it('is not confirmed after a day, nor by a link of another kind', async () => {
    const { someone, session } = await moved();
    const fresh = await signedIn(product, {
      ...someone,
      email: (await session.get(path)).body.data.user.email,
    });
    const email = newAddress();
    await fresh.patch(path, { email }, { 'x-organization-id': String(someone.organizationId) });
    const token = await tokenTo(email);
    expect(face(await follow('revoke', token))).toEqual([400, 'invalid_link']);
    expect(face(await follow('confirm', await tokenTo(someone.email)))).toEqual([400, 'invalid_link']);
    expect(face(await product.nobody.post('/auth/email/verify', { token }))).toEqual([400, 'invalid_link']);
    product.clock.travel(day + minute);
    expect(face(await follow('confirm', token))).toEqual([400, 'invalid_link']);
  });

  it("that is given up is nobody else's for a week, neither by registering nor by a change", async () => {
    const { someone } = await moved();
    const body = {
      email: someone.email,
      password: 'nine herons fold linen',
      first_name: 'Eve',
      last_name: 'Smith',
    };
    expect((await product.nobody.post('/auth/register', body)).body.data).toEqual({ mail_sent: true });
    expect((await mailsTo(someone.email))[0]?.subject).toBe('This address cannot have an account yet');
    const other = await signedIn(product, await newCustomer(product));
    await other.patch(path, { email: someone.email });
    expect(await sql(product, 'select id from users where lower(email) = $1', someone.email)).toEqual([]);
  });

  it('that somebody else has is answered like any other; the mail there tells, and both stay as they are', async () => {
    const someone = await newCustomer(product);
    const session = await signedIn(product, someone);
    const [free, taken] = [
      await session.patch(path, { email: newAddress() }),
      await session.patch(path, { email: person.email.toUpperCase() }),
    ];
    const shape = (answer: typeof free) => ({ ...answer.body.data.user, pending_email: '', updated_at: '' });
    expect(shape(taken)).toEqual(shape(free));
    const [mail] = await mailsTo(person.email.toUpperCase());
    expect(mail?.subject).toBe('This address has an account already');
    expect(mail?.body).not.toContain('token=');
  });

  it('of two accounts that confirm the same one at once, one has it', async () => {
    const email = newAddress();
    const tokens: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const session = await signedIn(product, await newCustomer(product));
      await session.patch(path, { email });
      tokens.push(await tokenTo(email));
    }
    const answers = await Promise.all(tokens.map((token) => follow('confirm', token)));
    expect(answers.map(face).toSorted()).toEqual([
      [200, undefined],
      [409, 'conflict'],
    ]);
  });

  it('is asked for by a session that proved itself in the last ten minutes, and by no key', async () => {
    const someone = await newCustomer(product);
    const session = await signedIn(product, someone);
    const email = newAddress();
    expect(face(await someone.patch(path, { email }))).toEqual([403, 'session_required']);
    product.clock.travel(11 * minute);
    expect(face(await session.patch(path, { email }))).toEqual([403, 'reauthentication_required']);
    expect((await session.patch(path, { email: someone.email, phone: null })).status).toBe(200);
    const proven = await session.post('/auth/reauthenticate', { password: someone.password });
    const again = await sessionOf(product, proven, someone.organizationId);
    expect(cookiesOf(proven)).toHaveProperty(['__Host-innkeeper']);
    expect((await again.patch(path, { email })).status).toBe(200);
    for (let turn = 1; turn < 10; turn += 1) await again.patch(path, { email: newAddress() });
    expect(face(await again.patch(path, { email: newAddress() }))).toEqual([409, 'too_many']);
  });
});

describe('preferences', () => {
  const preferences = `${path}/preferences`;

  it('say for whom somebody of several organizations orders, as long as they are in it', async () => {
    const [someone, other] = [await newCustomer(product), await newCustomer(product)];
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'billing', now())`,
      ...[other.organizationId, someone.userId],
    );
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = () =>
      product.nobody.post('/cart/checkout/invoice', { products: [item] }, { token: someone.key });
    expect((await order()).body.code).toBe('organization_ambiguous');
    const chosen = await someone.post(preferences, { default_organization_id: other.organizationId });
    expect(chosen.body.data.preferences.default_organization_id).toBe(other.organizationId);
    const { invoice_id } = (await order()).body.data;
    expect((await other.get(`/dashboard/invoices/${invoice_id}`)).status).toBe(200);
    await other.delete(`/dashboard/organizations/${other.organizationId}/members/${someone.userId}`);
    expect((await someone.get(path)).body.data.preferences.default_organization_id).toBeNull();
    const stranger = await newCustomer(product);
    const refused = await someone.post(preferences, { default_organization_id: stranger.organizationId });
    expect([refused.status, refused.body.details?.[0]?.field]).toEqual([400, 'default_organization_id']);
    expect((await someone.post(preferences, { default_organization_id: null })).status).toBe(200);
  });

  it('are changed in part, and shown with the account', async () => {
    const someone = await newCustomer(product);
    const change = { timezone: 'Europe/Vienna', theme: 'dark', notifications: { payments: false } };
    const { data } = (await someone.post(preferences, change)).body;
    const notifications = { payments: false, services: true };
    expect(data.preferences).toEqual({
      ...{ email_subscribed: false, show_cancelled_items: true, language: 'en' },
      ...{ timezone: 'Europe/Vienna', theme: 'dark', notifications, default_organization_id: null },
    });
    await someone.post(preferences, { notifications: { services: false }, email_subscribed: true });
    expect((await someone.get(path)).body.data).toMatchObject({
      user: { email_subscribed: true },
      preferences: { timezone: 'Europe/Vienna', notifications: { payments: false, services: false } },
    });
  });

  it.each([
    [{ timezone: 'Mars/Base' }],
    [{ timezone: 'EST5EDT; drop' }],
    [{ language: 'german' }],
    [{ theme: 'pink' }],
    [{ notifications: { everything: false } }],
    [{ notifications: { payments: 'no' } }],
    [{ show_cancelled_items: null }],
  ])('are not %j', async (body) => {
    expect(face(await person.post(preferences, body))).toEqual([400, 'invalid_request']);
  });

  it('say which mails somebody gets; what has to be known comes all the same', async () => {
    const someone = await newCustomer(product, { creditMinor: 300 });
    await someone.post(preferences, { notifications: { payments: false, services: false } });
    const invoice = await newInvoice(product, someone);
    await payByCredit(someone, invoice);
    expect((await mailsTo(someone.email)).map(({ subject }) => subject)).toEqual([
      `Your order: invoice ${invoice}`,
    ]);
  });

  it('say whether lists show what is cancelled, unless it is asked for', async () => {
    const someone = await newCustomer(product);
    const invoice = await newInvoice(product, someone);
    await someone.post(`/dashboard/invoices/${invoice}/cancel`);
    const seen = async (query = '') => {
      const invoices = (await someone.get(`/dashboard/invoices${query}`)).body.data;
      const services = (await someone.get(`/dashboard/services${query}`)).body.data;
      return [invoices.total, services.total];
    };
    await settled(product);
    expect(await seen()).toEqual([1, 1]);
    await someone.post(preferences, { show_cancelled_items: false });
    expect(await seen()).toEqual([0, 0]);
    expect(await seen('?status=cancelled')).toEqual([1, 1]);
    const colleague = await newCustomer(product);
    expect((await colleague.get('/dashboard/invoices')).body.data.total).toBe(0);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['confirmEmailChange', 'revokeEmailChange']));
