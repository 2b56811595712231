import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type Client } from '../../../test/client.ts';
import { newCustomer, newStaff } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let admin: Client;
let operator: Client;
beforeAll(async () => {
  product = await startTestProduct();
  admin = await newStaff(product, 'administrator');
  operator = await newStaff(product, 'operator');
});
afterAll(() => product.stop());

const path = '/staff/keys';
const withKey = (token: string) => apiClient(`${product.url}/api`, { token });
const idOf = async (who: Client): Promise<number> => (await who.get('/dashboard/account')).body.data.user.id;
const keysOf = async (who: Client) => (await who.get(path)).body.data.api_keys;
const hours = (count: number) => new Date(product.clock.now().getTime() + count * 3_600_000).toISOString();

const msBetween = (one: string, other: string) => Math.abs(Date.parse(one) - Date.parse(other));

async function make(who: Client, body: object = {}) {
  const answer = await who.post(path, { name: 'script', ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { api_key, token } = answer.body.data;
  return { ...api_key, token, client: withKey(token) };
}

async function mailsTo(who: Client): Promise<{ subject: string; body: string }[]> {
  await settled(product);
  const { email } = (await who.get('/dashboard/account')).body.data.user;
  return (await product.staff.get(`/staff/mails?recipient=${email}`)).body.data.mails;
}

const journalOf = (id: number) =>
  sql<{ action: string; data: Record<string, unknown>; user_id: number }>(
    product,
    `select action, data, user_id from journal where subject_type = 'api_key' and subject_id = $1 order by id`,
    id,
  );

describe('a key that staff makes', () => {
  it('is shown once, works, is listed shortened, and stands in the journal', async () => {
    const person = await newStaff(product, 'operator');
    const made = await make(person, { name: 'monitoring', vps: true, billing: false, expires_at: hours(48) });
    expect(made.token).toMatch(/^ink_/);
    expect((await made.client.get('/staff/nodes')).status).toBe(200);
    const [listed] = await keysOf(person);
    expect(listed).toMatchObject({
      id: made.id,
      name: 'monitoring',
      billing: false,
      shield: true,
      vps: true,
    });
    expect(listed.key).toBe(`${made.token.slice(0, 10)}…`);
    expect(JSON.stringify(await keysOf(person))).not.toContain(made.token);
    expect(JSON.stringify(await contents(product))).not.toContain(made.token);
    expect(await journalOf(made.id)).toMatchObject([
      {
        action: 'api_key.created',
        user_id: await idOf(person),
        data: { name: 'monitoring', by_other: false },
      },
    ]);
    product.clock.travel(49 * 3_600_000);
    expect((await made.client.get('/staff/nodes')).status).toBe(401);
    expect((await mailsTo(person)).map(({ subject }) => subject)).toEqual(['Your account has a new API key']);
  });

  it('is told to nobody who repeats the request with another key of the same person', async () => {
    const person = await newStaff(product, 'operator');
    const wide = await make(person);
    const narrow = await make(person, { billing: false, shield: false });
    const repeat = { 'idempotency-key': 'made-once' };
    const body = { name: 'wide', billing: true };
    const first = await wide.client.post(path, body, repeat);
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    expect((await wide.client.post(path, body, repeat)).body).toEqual(first.body);
    const second = await narrow.client.post(path, body, repeat);
    expect([second.status, second.body.code]).toEqual([403, 'permission_denied']);
  });

  it('tells when it was used', async () => {
    const made = await make(admin);
    expect(made.last_used_at).toBeNull();
    await made.client.get(path);
    await expect
      .poll(async () => (await admin.get(`${path}/${made.id}`)).body.data.api_key.last_used_at)
      .not.toBeNull();
  });

  it('that is kept to an area reaches what belongs to it, and nothing else of staff', async () => {
    const bills = await make(admin, { vps: false, shield: false });
    expect((await bills.client.get('/staff/invoices')).status).toBe(200);
    for (const other of ['/staff/nodes', '/staff/services', '/staff/jobs', '/staff/mails']) {
      const { status, body } = await bills.client.get(other);
      expect([other, status, body.code]).toEqual([other, 403, 'permission_denied']);
    }
    const none = await make(admin, { vps: false, shield: false, billing: false });
    expect((await none.client.get('/staff/invoices')).status).toBe(403);
    expect((await none.client.get('/staff/products')).status).toBe(200);
  });

  it('makes none that is mightier: no other area, none that lives longer', async () => {
    const kept = await make(admin, { vps: false, expires_at: hours(24) });
    for (const body of [{ vps: true }, { expires_at: hours(25) }, { expires_at: null }]) {
      const { status, body: said } = await kept.client.post(path, { name: 'more', ...body });
      expect([status, said.code]).toEqual([403, 'permission_denied']);
    }
    const made = await make(kept.client);
    expect(made).toMatchObject({ billing: true, shield: true, vps: false, expires_at: kept.expires_at });
    const whole = (await keysOf(admin)).find((key: { name: string }) => key.name === 'Test');
    for (const act of [
      () => kept.client.post(`${path}/${whole.id}/rotate`, {}),
      () => kept.client.delete(`${path}/${whole.id}?leave_none=true`),
    ])
      expect((await act()).body.code).toBe('permission_denied');
    expect((await admin.get('/staff/nodes')).status).toBe(200);
  });

  it.each([
    { name: '' },
    { name: '   ' },
    { name: 'a'.repeat(101) },
    { name: 'a\nb' },
    { name: 'x', expires_at: 'tomorrow' },
    { name: 'x', expires_at: '2020-01-01T00:00:00.000Z' },
    { name: 'x', vps: 'yes' },
    { name: 'x', staff_role: 'administrator' },
    {},
  ])('of %j is refused, and nothing is written', async (body) => {
    await settled(product);
    const before = await contents(product);
    expect((await admin.post(path, body)).status).toBe(400);
    expect(await contents(product)).toEqual(before);
  });

  it('is one of a hundred at most', async () => {
    const person = await newStaff(product, 'support');
    await sql(
      product,
      `insert into api_keys (id, user_id, name, prefix, hash, created_at)
       select 5000 + n, $1, 'k', 'ink_k', decode(md5('k' || n), 'hex'), now() from generate_series(1, 98) n`,
      await idOf(person),
    );
    const answers = await Promise.all([1, 2, 3].map(() => person.post(path, { name: 'more' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await person.get(`${path}?limit=40&page=3`)).body.data).toMatchObject({
      total: 100,
      entries: 20,
    });
  });

  it('is sent again with the same Idempotency-Key, and made once', async () => {
    const person = await newStaff(product, 'support');
    const ask = () => person.post(path, { name: 'once' }, { 'idempotency-key': 'a-key' });
    const [one, other] = [await ask(), await ask()];
    expect(other.body.data.token).toBe(one.body.data.token);
    expect(await keysOf(person)).toHaveLength(2);
  });
});

describe('another person’s keys', () => {
  it('are an administrator’s to see, make and revoke, and the person is told by mail', async () => {
    const person = await newStaff(product, 'support');
    const userId = await idOf(person);
    const made = await make(admin, { name: 'for you', user_id: userId });
    expect(made.user).toMatchObject({ id: userId });
    expect((await made.client.get('/staff/organizations')).status).toBe(200);
    expect((await made.client.get('/staff/nodes')).status).toBe(403); // no more than the person may
    expect((await admin.get(`${path}?user_id=${userId}`)).body.data.total).toBe(2);
    expect((await admin.delete(`${path}/${made.id}`)).body.data).toEqual({ revoked: true });
    expect((await made.client.get('/staff/organizations')).status).toBe(401);
    const subjects = (await mailsTo(person)).map(({ subject }) => subject);
    expect(subjects).toEqual(['An API key of yours was revoked', 'An API key was made for you']);
    expect(JSON.stringify(await mailsTo(person))).not.toContain(made.token);
    expect((await journalOf(made.id)).map(({ action }) => action)).toEqual([
      'api_key.created',
      'api_key.revoked',
    ]);
  });

  it('are nobody else’s: neither seen nor made, rotated or revoked, and nothing changes', async () => {
    const [mine] = await keysOf(admin);
    const adminId = await idOf(admin);
    await settled(product);
    const before = await contents(product);
    expect((await operator.get(`${path}?user_id=${adminId}`)).status).toBe(403);
    expect((await operator.get(`${path}/${mine.id}`)).status).toBe(403);
    expect((await operator.post(path, { name: 'x', user_id: adminId })).status).toBe(403);
    expect((await operator.post(`${path}/${mine.id}/rotate`, {})).status).toBe(403);
    expect((await operator.delete(`${path}/${mine.id}`)).status).toBe(403);
    expect(await contents(product)).toEqual(before);
    const own = await keysOf(operator);
    expect(own.map(({ user }: { user: { id: number } }) => user.id)).toEqual([await idOf(operator)]);
  });

  it('of customers are not staff’s: 404, and a customer is nobody to make one for', async () => {
    const customer = await newCustomer(product);
    const [key] = await sql<{ id: number }>(
      product,
      'select id from api_keys where user_id = $1',
      customer.userId,
    );
    expect((await admin.get(`${path}/${key?.id}`)).status).toBe(404);
    expect((await admin.delete(`${path}/${key?.id}`)).status).toBe(404);
    expect((await admin.post(path, { name: 'x', user_id: customer.userId })).status).toBe(404);
    expect((await customer.get('/dashboard/account')).status).toBe(200);
  });

  it('are rotated by nobody but the person, an administrator included', async () => {
    const [key] = await keysOf(operator);
    expect((await admin.post(`${path}/${key.id}/rotate`, {})).status).toBe(403);
  });
});

describe('a key that is rotated', () => {
  it('goes on for the overlap, while the new one has its name and areas', async () => {
    const old = await make(admin, { name: 'deploy', vps: false });
    const answer = await old.client.post(`${path}/${old.id}/rotate`, { overlap_hours: 2 });
    const { api_key, token, replaced } = answer.body.data;
    expect(api_key).toMatchObject({ name: 'deploy', vps: false, expires_at: null });
    expect(replaced.id).toBe(old.id);
    expect(msBetween(replaced.expires_at, hours(2))).toBeLessThan(5_000);
    const fresh = withKey(token);
    expect((await old.client.get(path)).status).toBe(200);
    expect((await fresh.get(path)).status).toBe(200);
    for (const who of [old.client, fresh])
      expect((await who.post(`${path}/${old.id}/rotate`, {})).body.message).toContain('rotated already');
    product.clock.travel(2 * 3_600_000 + 1_000);
    expect((await old.client.get(path)).status).toBe(401);
    expect((await fresh.get(path)).status).toBe(200);
    expect((await journalOf(old.id)).map(({ action }) => action)).toEqual([
      'api_key.created',
      'api_key.rotated',
    ]);
    expect((await fresh.post(`${path}/${old.id}/rotate`, {})).body.code).toBe('conflict');
  });

  it('ends at once without an overlap, and never lives longer for having been rotated', async () => {
    const old = await make(admin, { name: 'short', expires_at: hours(10) });
    product.clock.travel(3_600_000);
    const { api_key, token, replaced } = (await admin.post(`${path}/${old.id}/rotate`, { overlap_hours: 0 }))
      .body.data;
    expect(msBetween(api_key.expires_at, hours(10))).toBeLessThan(5_000); // for as long as the old one was made for
    expect(Date.parse(replaced.expires_at)).toBeLessThanOrEqual(product.clock.now().getTime());
    expect((await old.client.get(path)).status).toBe(401);
    const again = await withKey(token).post(`${path}/${api_key.id}/rotate`, { overlap_hours: 100 });
    expect(again.body.data.replaced.expires_at).toBe(api_key.expires_at);
  });
});

describe('the last key', () => {
  it('of a person is revoked by them only when they say that none is to be left', async () => {
    const person = await newStaff(product, 'billing');
    const [last] = await keysOf(person);
    const refused = await person.delete(`${path}/${last.id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'last_key']);
    expect(refused.body.message).toContain('leave_none=true');
    expect((await person.get(path)).status).toBe(200);
    const other = await make(person, { expires_at: hours(1) });
    product.clock.travel(2 * 3_600_000);
    expect((await person.delete(`${path}/${last.id}`)).body.code).toBe('last_key'); // the other one has expired
    expect((await person.delete(`${path}/${last.id}?leave_none=true`)).status).toBe(200);
    expect((await person.get(path)).status).toBe(401);
    expect((await admin.delete(`${path}/${last.id}`)).status).toBe(404);
    expect(other.id).not.toBe(last.id);
  });

  it('is left when two are revoked at once', async () => {
    const person = await newStaff(product, 'billing');
    const [first] = await keysOf(person);
    const second = await make(person);
    const answers = await Promise.all([
      person.delete(`${path}/${first.id}`),
      second.client.delete(`${path}/${second.id}`),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
