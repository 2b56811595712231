import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiClient, type Client } from '../../../test/client.ts';
import { newInvoice } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person, type SignedIn, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { permissionNames, permissionsOf, roles } from '../../organizations/index.ts';
import { addressRange } from './addressRange.ts';
import { areas } from './areas.ts';

const changes = watchChanges();

let product: TestProduct;
let person: Person;
let session: SignedIn;
beforeAll(async () => {
  product = await startTestProduct({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  person = await newCustomer(product, { creditMinor: 1_234 });
});
// Tests travel: each begins with somebody who proved just now who they are.
beforeEach(async () => {
  session = await signedIn(product, person);
});
afterAll(() => product.stop());

const path = '/dashboard/account/api-keys';
const hour = 3_600_000;
const day = 24 * hour;
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const inHours = (count: number) => new Date(product.clock.now().getTime() + count * hour).toISOString();

interface Made extends Client {
  id: number;
  token: string;
}

async function make(
  body: object,
  who: SignedIn = session,
  organizationId = person.organizationId,
): Promise<Made> {
  const answer = await who.post(path, { name: 'deploy', ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { api_key, token } = answer.body.data;
  return { id: api_key.id, token, ...apiClient(`${product.url}/api`, { token, organizationId }) };
}

/** Somebody signed in, whose proof is new. */
async function someone() {
  const who = await newCustomer(product, { creditMinor: 1_234 });
  return { who, session: await signedIn(product, who) };
}

describe('an API key', () => {
  it('is made, shown once, listed shortened, and kept as a hash', async () => {
    const { who, session: own } = await someone();
    const wish = {
      ...{ billing: false, shield: false, vps: true, scopes: ['vps.power', 'vps.read'] },
      ...{
        organization_ids: [who.organizationId],
        ip_allowlist: ['127.0.0.0/8', '2001:DB8::/32', '127.0.0.0/8'],
      },
      expires_at: inHours(48),
    };
    const made = await make(wish, own, who.organizationId);
    expect(made.token).toMatch(/^ink_[\w-]{38}$/);
    const { api_key } = (await own.get(`${path}/${made.id}`)).body.data;
    expect(api_key).toMatchObject({
      ...wish,
      ip_allowlist: ['127.0.0.0/8', '2001:db8::/32'],
      name: 'deploy',
    });
    expect(api_key).toMatchObject({
      key: `${made.token.slice(0, 10)}…`,
      lastUsed: null,
      test: false,
      current: false,
    });
    const { api_keys } = (await own.get(path)).body.data;
    expect(api_keys[0]).toEqual(api_key);
    expect((await own.get('/dashboard/account')).body.data.apikeys).toEqual(api_keys);
    expect(JSON.stringify(await contents(product))).not.toContain(made.token);
  });

  it('tells when it was used last, and from where', async () => {
    const made = await make({});
    await made.get('/dashboard/services', { 'x-forwarded-for': '2001:db8::7' });
    await expect
      .poll(async () => (await session.get(`${path}/${made.id}`)).body.data.api_key)
      .toMatchObject({ last_used_ip: '2001:db8::7', lastUsed: expect.any(String) });
  });

  it('is good from its addresses alone, of both families; from others it is nobody', async () => {
    const made = await make({ ip_allowlist: ['192.0.2.0/24', '198.51.100.7', '2001:db8:1::/48'] });
    const from = async (address: string) =>
      (await made.get('/dashboard/services', { 'x-forwarded-for': address })).status;
    for (const good of ['192.0.2.1', '192.0.2.255', '198.51.100.7', '2001:db8:1:2::3', '::ffff:192.0.2.9'])
      expect([good, await from(good)]).toEqual([good, 200]);
    for (const bad of ['192.0.3.1', '198.51.100.8', '2001:db8:2::1', '::1', '::ffff:192.0.3.9'])
      expect([bad, await from(bad)]).toEqual([bad, 401]);
    const refused = await made.get('/dashboard/services');
    const unknown = await product.nobody.get('/dashboard/services', { token: `${made.token.slice(0, -1)}!` });
    expect({ ...refused.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });

  it('may do what role, areas and scopes all allow, whichever they are', async () => {
    const names = permissionNames();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...roles),
        fc.record({ billing: fc.boolean(), shield: fc.boolean(), vps: fc.boolean() }),
        fc.option(fc.subarray(names, { minLength: 1 })),
        async (role, kept, scopes) => {
          const allowed = permissionsOf(role, { ...kept, scopes });
          for (const name of names) {
            const expected =
              [...permissionsOf(role)].includes(name as never) &&
              [...permissionsOf('owner', kept)].includes(name as never) &&
              (scopes === null || scopes.includes(name));
            expect(allowed.has(name as never)).toBe(expected);
          }
        },
      ),
    );
    expect(areas).toHaveLength(3);
  });

  it('is told apart from the role of its person when it is refused', async () => {
    const answerOf = async (key: Client, path: string) => (await key.get(path)).body;
    const byScope = await answerOf(await make({ scopes: ['service.read'] }), '/dashboard/invoices');
    const byArea = await answerOf(await make({ billing: false }), '/dashboard/invoices');
    for (const { code, message, details } of [byScope, byArea]) {
      expect(code).toBe('permission_denied');
      expect(message).toMatch(/your key is kept to less: it lacks billing\.read/);
      expect(details).toEqual([
        { field: 'token', message: 'is a key that is kept to less than billing.read' },
      ]);
    }
    const viewer = await newMember(product, person.organizationId, 'viewer');
    const theirs = await make({ scopes: ['vps.read'] }, await signedIn(product, viewer));
    const byRole = await theirs.post('/cart/checkout/invoice', { products: [] });
    expect(byRole.body.message).toMatch(/^Your role in this organization does not allow this/);
    expect(byRole.body.details[0].field).toBe('x-organization-id');
  });

  it('says of an organization that it may not be for it', async () => {
    const whole = await make({});
    const kept = await make({ organization_ids: [person.organizationId] });
    const elsewhere = { 'x-organization-id': '4242' };
    const messageOf = async (key: Client) =>
      (await key.get('/dashboard/services', elsewhere)).body.details[0].message;
    expect(await messageOf(whole)).toBe('names an organization that you are no member of');
    expect(await messageOf(kept)).toMatch(/no member of, or that your key is not for$/);
  });

  it('is told where the network of an address begins', async () => {
    const { body } = await session.post(path, { name: 'x', ip_allowlist: ['10.1.2.3/8', '2001:db8::1/32'] });
    expect(body.details).toEqual([
      { field: 'ip_allowlist[0]', message: 'must begin where its network does: 10.0.0.0/8' },
    ]);
  });

  it('is refused what is not among its scopes, also for an owner', async () => {
    const made = await make({ scopes: ['service.read'] });
    expect((await made.get('/dashboard/services')).status).toBe(200);
    expect(face(await made.get('/dashboard/invoices'))).toEqual([403, 'permission_denied']);
    expect((await made.get('/dashboard/account')).body.data.user.credit).toBe('0.00');
    // What is about the person and no scope says.
    expect(face(await made.patch('/dashboard/account', { phone: null }))).toEqual([403, 'permission_denied']);
    const whole = await make({});
    expect((await whole.get('/dashboard/account')).body.data.user.credit).toBe('12.34');
  });

  it('of a scope that its role loses has it no more', async () => {
    const member = await newMember(product, person.organizationId, 'technical');
    const made = await make({ scopes: ['vps.manage', 'service.read'] }, await signedIn(product, member));
    await sql(product, `update memberships set role = 'viewer' where user_id = $1`, member.userId);
    product.clock.travel(1_000);
    expect((await made.get('/dashboard/services')).status).toBe(200);
    expect(face(await made.post('/dashboard/service/1/vps/reinstall', { os: 'tiny' }))[0]).toBe(403);
  });

  it('reaches its organizations alone, and sees no other', async () => {
    const { who, session: own } = await someone();
    const second = (await own.post('/dashboard/organizations', { name: 'Second' })).body.data.organization.id;
    const made = await make({ organization_ids: [second] }, own, second);
    expect((await made.get('/dashboard/services')).status).toBe(200);
    const elsewhere = { 'x-organization-id': String(who.organizationId) };
    expect(face(await made.get('/dashboard/services', elsewhere))).toEqual([403, 'forbidden']);
    const { organizations, total } = (await made.get('/dashboard/organizations')).body.data;
    expect([organizations.map(({ id }: { id: number }) => id), total]).toEqual([[second], 1]);
    expect((await made.get('/dashboard/account')).body.data.user.credit).toBe('0.00');
    // The only one of its own, so nobody need name it.
    const bare = apiClient(`${product.url}/api`, { token: made.token });
    const order = await bare.post('/cart/checkout/invoice', { products: [] });
    expect(order.body.message).toBe('no products in the cart');
    await sql(product, 'delete from memberships where organization_id = $1', second);
    product.clock.travel(1_000);
    expect(face(await made.get('/dashboard/services'))).toEqual([403, 'forbidden']);
  });

  it('counts from the next request on when it is changed', async () => {
    const made = await make({ expires_at: inHours(2) });
    expect((await made.get('/dashboard/invoices')).status).toBe(200);
    const changed = await session.patch(`${path}/${made.id}`, {
      billing: false,
      name: 'reader',
      expires_at: null,
    });
    expect(changed.body.data.api_key).toMatchObject({
      billing: false,
      vps: true,
      name: 'reader',
      expires_at: null,
    });
    expect(face(await made.get('/dashboard/invoices'))).toEqual([403, 'permission_denied']);
    await session.patch(`${path}/${made.id}`, { ip_allowlist: ['192.0.2.1'] });
    expect((await made.get('/dashboard/services')).status).toBe(401);
    await session.patch(`${path}/${made.id}`, { ip_allowlist: null, scopes: ['service.read'] });
    expect((await made.get('/dashboard/services')).status).toBe(200);
    await settled(product);
    const before = await contents(product);
    expect(
      (await session.patch(`${path}/${made.id}`, { name: 'reader', scopes: ['service.read'] })).status,
    ).toBe(200);
    expect(await contents(product)).toEqual(before);
    expect((await session.delete(`${path}/${made.id}`)).body.data).toEqual({ revoked: true });
    expect((await made.get('/dashboard/services')).status).toBe(401);
    expect(face(await session.patch(`${path}/${made.id}`, { name: 'again' }))).toEqual([404, 'not_found']);
  });

  it('is rotated: the new one is kept to the same, and the old one goes on for the overlap', async () => {
    const { who, session: own } = await someone();
    const kept = {
      vps: false,
      scopes: ['billing.read'],
      ip_allowlist: ['127.0.0.1'],
      organization_ids: [who.organizationId],
    };
    const old = await make({ ...kept, expires_at: inHours(100) }, own, who.organizationId);
    const { data } = (await own.post(`${path}/${old.id}/rotate`, { overlap_hours: 3 })).body;
    expect(data.api_key).toMatchObject({ ...kept, name: 'deploy' });
    expect(data.replaced.id).toBe(old.id);
    const made = apiClient(`${product.url}/api`, { token: data.token, organizationId: who.organizationId });
    for (const key of [old, made]) expect((await key.get('/dashboard/invoices')).status).toBe(200);
    expect(face(await own.post(`${path}/${old.id}/rotate`, {}))).toEqual([409, 'conflict']);
    product.clock.travel(3 * hour + 1_000);
    expect((await old.get('/dashboard/invoices')).status).toBe(401);
    expect((await made.get('/dashboard/invoices')).status).toBe(200);
    const again = await signedIn(product, who);
    expect(face(await again.patch(`${path}/${old.id}`, { expires_at: inHours(9) }))).toEqual([
      409,
      'conflict',
    ]);
  });

  it('that ends is told of by mail, once, a week before or when half of its life is over', async () => {
    const { who, session: own } = await someone();
    await own.post('/dashboard/account/preferences', { timezone: 'Asia/Tokyo' });
    await make({ name: 'long', expires_at: inHours(30 * 24) }, own);
    await make({ name: 'short', expires_at: inHours(4 * 24) }, own);
    await make({ name: 'hours', expires_at: inHours(20) }, own);
    const gone = await make({ name: 'gone', expires_at: inHours(4 * 24) }, own);
    await own.delete(`${path}/${gone.id}`);
    const told = async (days: number) => {
      product.clock.travel(days * day);
      await product.periodic('account.warnOfEndingKeys');
      await settled(product);
      const { mails } = (await product.staff.get(`/staff/mails?recipient=${who.email}`)).body.data;
      return mails
        .filter(({ subject }: { subject: string }) => /ends soon/.test(subject))
        .map(({ body }: { body: string }) => /"(\w+)"/.exec(body)?.[1] ?? '');
    };
    expect(await told(0)).toEqual([]);
    expect(await told(2.1)).toEqual(['short']);
    expect(await told(10)).toEqual(['short']);
    expect((await told(11)).toSorted()).toEqual(['long', 'short']);
    expect((await told(0)).toSorted()).toEqual(['long', 'short']);
    const { mails } = (await product.staff.get(`/staff/mails?recipient=${who.email}`)).body.data;
    expect(mails[0].body).toContain('(Asia/Tokyo)');
  });

  it('is for somebody who signed in and proved it in the last ten minutes, not for a key', async () => {
    const made = await make({});
    const { who, session: own } = await someone();
    const asks = (client: Client, id: number) => [
      client.post(path, { name: 'more' }),
      client.patch(`${path}/${id}`, { name: 'other' }),
      client.post(`${path}/${id}/rotate`, {}),
      client.delete(`${path}/${id}`),
    ];
    await settled(product);
    const before = await contents(product);
    for (const answer of await Promise.all(asks(person, made.id)))
      expect(face(answer)).toEqual([403, 'session_required']);
    for (const answer of (await Promise.all(asks(own, made.id))).slice(1))
      expect(face(answer)).toEqual([403, 'forbidden']);
    await sql(product, 'delete from api_keys where user_id = $1 and name = $2', who.userId, 'more');
    expect((await own.get(`${path}/${made.id}`)).status).toBe(403);
    product.clock.travel(11 * 60_000);
    for (const answer of await Promise.all(asks(own, made.id)))
      expect(face(answer)).toEqual([403, 'reauthentication_required']);
    expect((await contents(product)).api_keys).toEqual(before.api_keys);
  });

  it('of somebody of staff takes a second factor, since it goes where that is asked for', async () => {
    const { who, session: own } = await someone();
    await sql(product, `update users set staff_role = 'support' where id = $1`, who.userId);
    product.clock.travel(1_000);
    expect(face(await own.post(path, { name: 'staff' }))).toEqual([403, 'second_factor_required']);
    await sql(product, 'update sessions set strong = true where id = $1', own.sessionId);
    product.clock.travel(1_000);
    const scoped = await make({ scopes: ['service.read'] }, own);
    expect(face(await scoped.get('/staff/users'))).toEqual([403, 'permission_denied']);
    expect(face(await scoped.post('/staff/keys', { name: 'whole' }))).toEqual([403, 'permission_denied']);
    const bound = await make({ organization_ids: [who.organizationId] }, own);
    expect(face(await bound.get('/staff/users'))).toEqual([403, 'permission_denied']);
    expect((await (await make({}, own)).get('/staff/users')).status).toBe(200);
  });

  it.each([
    [{ name: '' }],
    [{ name: 'a\nb' }],
    [{ name: 'x', scopes: [] }],
    [{ name: 'x', scopes: ['everything'] }],
    [{ name: 'x', organization_ids: [] }],
    [{ name: 'x', organization_ids: [4242] }],
    [{ name: 'x', ip_allowlist: [] }],
    [{ name: 'x', ip_allowlist: ['192.0.2.1/24'] }],
    [{ name: 'x', ip_allowlist: ['example.com'] }],
    [{ name: 'x', ip_allowlist: ['10.0.0.0/33'] }],
    [{ name: 'x', ip_allowlist: ['fe80::1%eth0'] }],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00.000Z' }],
    [{ name: 'x', user_id: 1 }],
    [{ name: 'x', vps: 'yes' }],
  ])('is not made of %j', async (body) => {
    await settled(product);
    const before = (await contents(product)).api_keys;
    expect(face(await session.post(path, body))).toEqual([400, 'invalid_request']);
    expect((await contents(product)).api_keys).toEqual(before);
  });
});

describe('a test key', () => {
  it('is known by its beginning, and gets real answers while nothing changes and no job starts', async () => {
    const invoice = await newInvoice(product, person);
    await settled(product);
    const key = await make({ test: true });
    expect(key.token).toMatch(/^ink_test_/);
    expect((await key.get('/dashboard/services')).status).toBe(200); // its use is noted, as of every key
    await settled(product);
    const before = await contents(product);
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = await key.post(
      '/cart/checkout/invoice',
      { products: [item] },
      { 'idempotency-key': 'tried' },
    );
    expect(order.status, JSON.stringify(order.body)).toBe(200);
    expect(order.headers.get('test-key')).toBe('true');
    expect((await key.get(`/dashboard/invoices/${order.body.data.invoice_id}`)).status).toBe(404);
    const again = await key.post(
      '/cart/checkout/invoice',
      { products: [item] },
      { 'idempotency-key': 'tried' },
    );
    expect(again.headers.get('idempotency-replayed')).toBeNull();
    const paid = await key.post(`/dashboard/invoices/${invoice}/pay`, { method: 'credit' });
    expect(paid.body.data.invoice.status).toBe('paid');
    const changed = await key.patch('/dashboard/account', { first_name: 'Tried' }, { 'if-match': '*' });
    expect(changed.body.data.user.first_name).toBe('Tried');
    const refused = await key.post('/cart/checkout/invoice', { products: [{ ...item, id: 4242 }] });
    expect([...face(refused), refused.headers.get('test-key')]).toEqual([404, 'product_unknown', 'true']);
    await settled(product);
    expect(await contents(product)).toEqual(before);
    expect((await person.get('/dashboard/services')).headers.get('test-key')).toBeNull();
    const real = await person.post(`/dashboard/invoices/${invoice}/pay`, { method: 'credit' });
    expect(real.body.data.invoice.status).toBe('paid');
  });

  it('stays one: nothing makes a real one of it', async () => {
    const key = await make({ test: true });
    expect(face(await session.patch(`${path}/${key.id}`, { test: false }))).toEqual([400, 'invalid_request']);
    const { data } = (await session.post(`${path}/${key.id}/rotate`, {})).body;
    expect(data.api_key.test).toBe(true);
    expect(data.token).toMatch(/^ink_test_/);
  });
});

describe('a range of addresses', () => {
  it.each<[string, string | null]>([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8::/32', '2001:db8::/32'],
    ...[
      '',
      '/',
      '1.2.3',
      '192.0.2.1/24',
      '192.0.2.0/024',
      '192.0.2.0/24/1',
      '2001:db8::1/64',
      '::/129',
      '01.2.3.4',
    ].map((text): [string, null] => [text, null]),
    ['192.0.2.0/-1', null],
    ['::ffff:192.0.2.0/120', null],
    ['::192.0.2.1', null],
  ])('%j is %j', (text, range) => {
    expect(addressRange(text)).toBe(range);
  });

  it('is read as PostgreSQL reads it', async () => {
    const v4 = fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, length]) => `${address}/${length}`);
    const v6 = fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, length]) => `${address}/${length}`);
    const texts = fc.sample(fc.oneof(v4, v6, fc.ipV4(), fc.ipV6()), 300);
    for (const text of texts) {
      const range = addressRange(text);
      if (range === null) continue;
      const [row] = await sql<{ same: boolean }>(
        product,
        'select $1::inet = $2::inet and network($2::inet) = $2::inet as same',
        ...[text.replace(/^::ffff:(?=\d+\.)/i, ''), range],
      );
      expect([text, row?.same]).toEqual([text, true]);
    }
  });
});

describe('a change', () =>
  changes.leaveEntries(() => product, ['createApiKey', 'updateApiKey', 'rotateApiKey', 'revokeApiKey']));
