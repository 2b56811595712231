import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';

let limited: TestProduct;
beforeAll(async () => {
  limited = await startTestProduct({ env: { RATE_LIMITS: 'on', TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => limited.stop());
const attempt = (who: { email: string }, password: string, from: string, cookie = '') =>
  limited.nobody.post('/auth/login', { email: who.email, password }, { 'x-forwarded-for': from, cookie });

it('nobody guesses on and on, from wherever, and a browser that was there before is not locked out', async () => {
  const person = await newCustomer(limited);
  const { cookie } = await signedIn(limited, person, { 'x-forwarded-for': '192.0.2.200' });
  const guesses = await Promise.all(
    Array.from({ length: 25 }, (_, at) => attempt(person, `guess number ${at}`, `192.0.2.${at + 1}`)),
  );
  const statuses = guesses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  expect((await attempt(person, person.password, '192.0.2.99')).status).toBe(429);
  expect((await attempt(person, person.password, '192.0.2.99', cookie)).status).toBe(200);
  const other = await newCustomer(limited);
  expect((await attempt(other, other.password, '192.0.2.99')).status).toBe(200);
});

it('a browser that was there before guesses no more than others', async () => {
  const person = await newCustomer(limited);
  const { cookie } = await signedIn(limited, person, { 'x-forwarded-for': '198.51.100.1' });
  const guesses = await Promise.all(
    Array.from({ length: 14 }, (_, at) => attempt(person, `guess number ${at}`, '198.51.100.1', cookie)),
  );
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
});

it('a browser that was there before signs in and has mails sent however much others at its address do', async () => {
  const from = '198.51.100.77';
  const person = await newCustomer(limited);
  const { cookie } = await signedIn(limited, person, { 'x-forwarded-for': from });
  const stranger = await newCustomer(limited);
  const signIns = await Promise.all(
    Array.from({ length: 24 }, () => attempt(stranger, stranger.password, from)),
  );
  expect(signIns.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(4);
  const forget = (more: object) =>
    limited.nobody.post(
      '/auth/password/forgot',
      { email: person.email },
      { 'x-forwarded-for': from, ...more },
    );
  for (let turn = 0; turn < 10; turn += 1) await forget({});
  expect((await forget({})).status).toBe(429);
  expect((await forget({ cookie })).status).toBe(200);
  expect((await attempt(person, person.password, from, cookie)).status).toBe(200);
  expect((await attempt(person, person.password, from, plantedFor(cookie))).status).toBe(429);
});

/** The same with a token that we never gave anybody, and that looks like one of ours. */
function plantedFor(cookie: string): string {
  return cookie.replace(/-device=ind_[^;]*/, () => {
    const body = `ind_${randomBytes(24).toString('base64url')}`;
    return `-device=${body}${crc32(body).toString(36).padStart(7, '0').slice(-6)}`;
  });
}

it('an address registers and has mails sent so often and no more', async () => {
  const from = { 'x-forwarded-for': '203.0.113.7' };
  const count = async (path: string, body: (at: number) => object) => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => limited.nobody.post(path, body(at), from)),
    );
    return answers.filter(({ status }) => status === 200).length;
  };
  expect(
    await count('/auth/register', () => ({
      email: `${randomBytes(6).toString('hex')}@example.com`,
      password: 'seven otters read maps',
      first_name: 'Grace',
      last_name: 'Lindqvist',
    })),
  ).toBe(10);
  expect(await count('/auth/password/forgot', (at) => ({ email: `x${at}@example.com` }))).toBe(10);
});

it('a session tries a few passwords by changing its own, and then none for a while', async () => {
  const session = await signedIn(limited, await newCustomer(limited));
  const change = (current_password: string) =>
    session.patch('/dashboard/account', { password: 'nine herons fold linen', current_password });
  const tries = [];
  for (let turn = 0; turn < 12; turn += 1) tries.push((await change(`wrong ${turn}`)).status);
  expect(tries).toEqual([...Array(10).fill(401), 429, 429]);
  expect((await session.patch('/dashboard/account', { phone: null })).status).toBe(200);
});

it('whoever has a whole /48 is counted by that as well, as sixteen who have a /64 each', async () => {
  const person = await newCustomer(limited);
  const from = (site: string, at: number) => `2001:db8:${site}:${at.toString(16)}::1`;
  const forget = (address: string) =>
    limited.nobody.post('/auth/password/forgot', { email: person.email }, { 'x-forwarded-for': address });
  const many = await Promise.all(Array.from({ length: 165 }, (_, at) => forget(from('a1', at + 1))));
  const statuses = many.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(160);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  expect((await forget(from('a2', 1))).status).toBe(200); // the neighbour's
});

it('whoever has changed all that an hour allows still takes away what changed it', async () => {
  const person = await newCustomer(limited);
  const here = await signedIn(limited, person);
  const policyOf = (answer: { headers: Headers }) => answer.headers.get('ratelimit-policy');
  const renamed = await here.patch('/dashboard/account', { first_name: 'Ada' });
  expect(policyOf(renamed)).toContain('"change"');
  for (const path of ['/dashboard/account/api-keys/1', '/dashboard/account/sessions/1']) {
    const policy = policyOf(await here.delete(path));
    expect(policy).toContain('"revoke"');
    expect(policy).not.toContain('"change"');
  }
});
