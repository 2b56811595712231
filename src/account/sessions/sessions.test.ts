import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { settleRestore } from '../../platform/index.ts';
import { forgetSignIns } from './forget.ts';

const changes = watchChanges();

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  person = await newCustomer(product);
});
afterAll(() => product.stop());

const path = '/dashboard/account/sessions';
const hour = 3_600_000;

describe('sessions', () => {
  it('are listed with which one asks, and ended one by one', async () => {
    const [first, second] = [
      await signedIn(product, person),
      await signedIn(product, person, { 'user-agent': 'Second' }),
    ];
    const { sessions, total } = (await first.get(path)).body.data;
    expect(total).toBe(2);
    expect(sessions.map((each: { id: number; current: boolean }) => [each.id, each.current])).toEqual([
      [second.sessionId, false],
      [first.sessionId, true],
    ]);
    expect(sessions[0]).toMatchObject({
      user_agent: 'Second',
      ip: '127.0.0.1',
      method: 'password',
      second_factor: false,
    });
    expect((await first.get(`${path}/${second.sessionId}`)).body.data.session).toEqual(sessions[0]);
    expect((await first.delete(`${path}/${second.sessionId}`)).body.data).toEqual({ ended: true });
    expect((await second.get('/dashboard/account')).status).toBe(401);
    expect((await first.delete(`${path}/${second.sessionId}`)).status).toBe(404);
  });

  it('of another person are theirs: 403, and they go on', async () => {
    const other = await newCustomer(product);
    const session = await signedIn(product, other);
    expect((await person.get(`${path}/${session.sessionId}`)).status).toBe(403);
    expect((await person.delete(`${path}/${session.sessionId}`)).status).toBe(403);
    expect((await session.get('/dashboard/account')).status).toBe(200);
  });

  it('are ended all but the one that asks', async () => {
    const asking = await signedIn(product, person);
    const others = [await signedIn(product, person), await signedIn(product, person)];
    expect((await asking.delete(path)).body.data.ended).toBeGreaterThanOrEqual(2);
    for (const other of others) expect((await other.get('/dashboard/account')).status).toBe(401);
    expect((await asking.get(path)).body.data.total).toBe(1);
  });

  it('are not ended by a key that is kept to an area', async () => {
    const session = await signedIn(product, person);
    await sql(product, 'update api_keys set billing = false where user_id = $1', person.userId);
    product.clock.travel(1_000);
    for (const which of [path, `${path}/${session.sessionId}`])
      expect((await person.delete(which)).body.code).toBe('permission_denied');
    await sql(product, 'update api_keys set billing = true where user_id = $1', person.userId);
    product.clock.travel(1_000);
    expect((await person.delete(path)).status).toBe(200);
    expect((await session.get('/dashboard/account')).status).toBe(401);
  });

  it('end when nobody uses them for a week, and after a month in any case', async () => {
    const idle = await signedIn(product, person);
    const used = await signedIn(product, person);
    for (let day = 0; day < 8; day += 1) {
      product.clock.travel(24 * hour);
      expect((await used.get('/dashboard/account')).status).toBe(200);
      await settled(product);
    }
    expect((await idle.get('/dashboard/account')).status).toBe(401);
    for (let day = 8; day < 30; day += 1) {
      expect((await used.get('/dashboard/account')).status).toBe(200);
      product.clock.travel(24 * hour);
    }
    expect((await used.get('/dashboard/account')).status).toBe(401);
    await product.periodic('account.purgeSessions');
    expect(await sql(product, 'select 1 from sessions where user_id = $1', person.userId)).toEqual([]);
  });

  it('end when the clock that they were opened by turns out to have been ahead', async () => {
    product.clock.travel(400 * 24 * hour);
    const ahead = await signedIn(product, person);
    product.clock.travel(-400 * 24 * hour);
    const now = await signedIn(product, person);
    await product.periodic('account.purgeSessions');
    expect((await ahead.get('/dashboard/account')).status).toBe(401);
    expect((await now.get('/dashboard/account')).status).toBe(200);
  });

  it('are fifty at most: the oldest end', async () => {
    const crowd = await newCustomer(product);
    const first = await signedIn(product, crowd);
    await sql(
      product,
      `insert into sessions (id, user_id, hash, half, strong, method, proven_at, last_seen_at, expires_at, created_at)
       select n, $1, sha256(n::text::bytea), false, false, 'password', $2::timestamptz, $2, $2::timestamptz + interval '1 day', $2
       from generate_series(1, 49) n`,
      crowd.userId,
      new Date(product.clock.now().getTime() + 1_000),
    );
    product.clock.travel(2_000);
    const last = await signedIn(product, crowd);
    expect((await last.get(path)).body.data.total).toBe(50);
    expect((await first.get('/dashboard/account')).status).toBe(401);
  });

  it('of who is in no organization are theirs to see without naming one', async () => {
    const session = await signedIn(product, await newStaff(product, 'administrator'));
    expect((await session.get(path)).status).toBe(200);
    expect((await person.get(path, { 'x-organization-id': 'x' })).body.code).toBe('organization_required');
    const member = await signedIn(product, { email: person.email, password: person.password });
    expect((await member.get(path)).body.code).toBe('organization_required');
  });

  it("do not reach staff's part by a password alone", async () => {
    const session = await signedIn(product, await newStaff(product, 'administrator'));
    const { status, body } = await session.get('/staff/users');
    expect([status, body.code]).toEqual([403, 'second_factor_required']);
  });
});

it('after a restore everybody signs in anew: what was ended since the backup stays so', async () => {
  const session = await signedIn(product, person);
  await sql(product, `insert into restores (made_at, restored_at) values (now(), now())`);
  await settleRestore(product.ctx, [], forgetSignIns);
  product.clock.travel(1_000);
  expect((await session.get('/dashboard/account')).status).toBe(401);
  expect((await signedIn(product, person)).sessionId).toBeGreaterThan(0);
});

describe('the history of sign-ins', () => {
  it('tells who tried and who got in, from where, and nobody else reads it', async () => {
    const watched = await newCustomer(product);
    const { email, password } = watched;
    await product.nobody.post(
      '/auth/login',
      { email, password: 'not the password' },
      { 'user-agent': 'Guesser' },
    );
    await expect.poll(async () => (await watched.get('/dashboard/account/sign-ins')).body.data.total).toBe(1);
    await signedIn(product, { email, password }, { 'user-agent': 'Browser' });
    const { sign_ins } = (await watched.get('/dashboard/account/sign-ins')).body.data;
    expect(sign_ins).toMatchObject([
      { outcome: 'signed_in', method: 'password', new_device: true, user_agent: 'Browser', ip: '127.0.0.1' },
      { outcome: 'wrong_password', method: null, user_agent: 'Guesser', ip: '127.0.0.1' },
    ]);
    expect((await person.get('/dashboard/account/sign-ins')).body.data.sign_ins).not.toContainEqual(
      sign_ins[0],
    );
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['endSession']));
