import { TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { plantPasskey } from '../../../test/passkeys.ts';
import { newCustomer, type Person, type SignedIn, sessionOf, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());
// Each test has a step of its own: what one used must not be what the next one shows.
beforeEach(() => product.clock.travel(60_000));

const path = '/dashboard/account/2fa';
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

function codeOf(secret: string, steps = 0): string {
  return TOTP.generate({
    secret: secretOf(secret),
    timestamp: product.clock.now().getTime() + steps * 30_000,
  });
}

function secretOf(base32: string) {
  return new TOTP({ secret: base32 }).secret;
}

/** A code that is wrong now and for the steps beside. */
function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  );
}

/** Somebody who signs in with codes, signed in. */
async function withFactor() {
  const person = await newCustomer(product);
  const before = await signedIn(product, person);
  const { secret, otpauth_url } = (await before.post(`${path}/setup`)).body.data;
  const enabled = await before.post(`${path}/enable`, { code: codeOf(secret) });
  expect(enabled.status, JSON.stringify(enabled.body)).toBe(200);
  const session = await sessionOf(product, enabled, person.organizationId);
  product.clock.travel(60_000);
  return {
    person,
    before,
    session,
    secret,
    otpauth_url,
    codes: enabled.body.data.recovery_codes as string[],
  };
}

/** The half of a sign-in that knows the password. */
async function half(person: Person): Promise<SignedIn> {
  const { email, password } = person;
  const answer = await product.nobody.post('/auth/login', { email, password });
  expect(answer.body.data).toEqual({ second_factor_required: true, methods: ['totp', 'recovery_code'] });
  return sessionOf(product, answer, person.organizationId);
}

describe('a second factor', () => {
  it('that was set up and never enabled opens nothing, also beside one that was', async () => {
    const person = await newCustomer(product);
    const thief = await signedIn(product, person);
    const { secret } = (await thief.post(`${path}/setup`)).body.data;
    await plantPasskey(product, person.userId);
    const { email, password } = person;
    const begun = await sessionOf(product, await product.nobody.post('/auth/login', { email, password }));
    expect(face(await begun.post('/auth/login/2fa', { code: codeOf(secret) }))).toEqual([
      401,
      'invalid_code',
    ]);
  });

  it('is set up, enabled by a code, asked for at sign-in, and disabled by a code', async () => {
    const { person, before, session, secret, otpauth_url, codes } = await withFactor();
    expect(otpauth_url).toContain(`secret=${secret}`);
    expect(new Set(codes).size).toBe(10);
    expect((await before.get('/dashboard/account')).status).toBe(401); // it goes on under another token
    const { data } = (await session.get('/dashboard/account')).body;
    expect([data.twofa_status, data.user.twoFactorAuthentication]).toEqual([true, true]);

    const begun = await half(person);
    const answer = await begun.post('/auth/login/2fa', { code: codeOf(secret) });
    expect(answer.body.data).toMatchObject({ second_factor_required: false, user: { email: person.email } });
    const signed = await sessionOf(product, answer, person.organizationId);
    expect(signed.token).not.toBe(begun.token);
    expect((await signed.get('/dashboard/account/sessions')).body.data.sessions[0]).toMatchObject({
      current: true,
      second_factor: true,
    });

    product.clock.travel(60_000);
    expect(face(await signed.post(`${path}/setup`))).toEqual([409, 'second_factor_enabled']);
    expect(face(await signed.post(`${path}/disable`, { code: wrongCode(secret) }))).toEqual([
      401,
      'invalid_code',
    ]);
    expect((await signed.post(`${path}/disable`, { code: codeOf(secret) })).body.data).toEqual({
      disabled: true,
    });
    expect(face(await signed.post(`${path}/disable`, { code: codeOf(secret) }))).toEqual([
      409,
      'second_factor_missing',
    ]);
    expect((await signedIn(product, person)).sessionId).toBeGreaterThan(0);
    await settled(product);
    const mails = await sql<{ subject: string }>(
      product,
      'select subject from mails where recipient = $1',
      person.email,
    );
    expect(mails.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([
        'Your account has a second factor',
        'Your account has no second factor any more',
      ]),
    );
  });

  it('does not count before a code of it was shown, and its secret stands nowhere in clear', async () => {
    const person = await newCustomer(product);
    const session = await signedIn(product, person);
    expect(face(await session.post(`${path}/enable`, { code: '123456' }))).toEqual([
      409,
      'second_factor_missing',
    ]);
    const { secret } = (await session.post(`${path}/setup`)).body.data;
    expect(face(await session.post(`${path}/enable`, { code: wrongCode(secret) }))).toEqual([
      401,
      'invalid_code',
    ]);
    await signedIn(product, person);
    const text = JSON.stringify(await contents(product));
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secretOf(secret).buffer).toString('hex'));
  });

  it('keeps half a sign-in from everything but its challenge', async () => {
    const { person } = await withFactor();
    const begun = await half(person);
    const asked = [
      await begun.get('/dashboard/account'),
      await begun.get('/dashboard/organizations'),
      await begun.get('/dashboard/services'),
      await begun.get('/dashboard/account/sessions'),
      await begun.post(`${path}/disable`, { code: '000000' }),
      await begun.post('/auth/logout'),
      await begun.post('/auth/reauthenticate', { password: person.password }),
      await begun.get('/staff/users'),
    ];
    expect(asked.map(({ status }) => status)).toEqual(Array(asked.length).fill(401));
  });

  it('is asked for by who showed the password: others get 401', async () => {
    const { session, person, secret } = await withFactor();
    const code = codeOf(secret);
    for (const token of [undefined, 'nonsense', session.token, person.key]) {
      const headers: Record<string, string> = token === undefined ? {} : { token };
      expect(face(await product.nobody.post('/auth/login/2fa', { code }, headers))).toEqual([
        401,
        'unauthorized',
      ]);
    }
    const begun = await half(person);
    product.clock.travel(11 * 60_000);
    expect(face(await begun.post('/auth/login/2fa', { code: codeOf(secret) }))).toEqual([
      401,
      'unauthorized',
    ]);
  });

  it.each([
    [{}],
    [{ code: '123456', recovery_code: 'abcd-efgh-jkmn' }],
    [{ code: '12345' }],
    [{ code: 123456 }],
  ])('is no second factor: %j', async (body) => {
    const { person } = await withFactor();
    expect(face(await (await half(person)).post('/auth/login/2fa', body))).toEqual([400, 'invalid_request']);
  });
});

describe('a code', () => {
  it('opens one session, however many show it at once', async () => {
    const { person, secret } = await withFactor();
    const begun = await Promise.all(Array.from({ length: 8 }, () => half(person)));
    const code = codeOf(secret);
    const answers = await Promise.all(begun.map((each) => each.post('/auth/login/2fa', { code })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(401)]);
  });

  it('of a step before one that was used is refused, and one of the next step is taken', async () => {
    const { person, secret } = await withFactor();
    const show = async (steps: number) =>
      (await (await half(person)).post('/auth/login/2fa', { code: codeOf(secret, steps) })).status;
    expect(await show(0)).toBe(200);
    expect([await show(0), await show(-1)]).toEqual([401, 401]);
    expect(await show(1)).toBe(200);
    expect(await show(3)).toBe(401);
  });
});

describe('a recovery code', () => {
  it('is good once, also of many at once, and however it is written', async () => {
    const { person, codes } = await withFactor();
    const begun = await Promise.all(Array.from({ length: 5 }, () => half(person)));
    const answers = await Promise.all(
      begun.map((each) => each.post('/auth/login/2fa', { recovery_code: codes[0] })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const written = codes[1]?.toUpperCase().replaceAll('-', ' ');
    expect((await (await half(person)).post('/auth/login/2fa', { recovery_code: written })).status).toBe(200);
  });

  it('of another person is none', async () => {
    const [one, other] = [await withFactor(), await withFactor()];
    const answer = await (await half(one.person)).post('/auth/login/2fa', { recovery_code: other.codes[0] });
    expect(face(answer)).toEqual([401, 'invalid_code']);
  });

  it('is good no more when new ones were made', async () => {
    const { person, session, codes } = await withFactor();
    const made = (await session.post(`${path}/recovery-codes`)).body.data.recovery_codes;
    expect(made).toHaveLength(10);
    const show = async (recovery_code: string) =>
      (await (await half(person)).post('/auth/login/2fa', { recovery_code })).status;
    expect([await show(codes[0] ?? ''), await show(made[0])]).toEqual([401, 200]);
  });
});

describe('what endangers the account', () => {
  it('asks again after ten minutes, and an API key cannot do it at all', async () => {
    const person = await newCustomer(product);
    expect(face(await person.post(`${path}/setup`))).toEqual([403, 'session_required']);
    const session = await signedIn(product, person);
    product.clock.travel(10 * 60_000);
    const refused = await session.post(`${path}/setup`);
    expect(face(refused)).toEqual([403, 'reauthentication_required']);
    expect(refused.body.message).toContain('/auth/reauthenticate');
    const proven = await session.post('/auth/reauthenticate', { password: person.password });
    const renewed = await sessionOf(product, proven, person.organizationId);
    expect((await renewed.post(`${path}/setup`)).status).toBe(200);
  });
});

describe('staff', () => {
  it('reaches its part with the second factor of demo.json, and not without', async () => {
    const { email, password, totp_secret } = product.demo.staff;
    const begun = await product.nobody.post('/auth/login', { email, password });
    const halfway = await sessionOf(product, begun);
    expect((await halfway.get('/staff/users')).status).toBe(401);
    const answer = await halfway.post('/auth/login/2fa', { code: codeOf(totp_secret) });
    expect(answer.body.data.user.staff_role).toBe('administrator');
    const session = await sessionOf(product, answer);
    expect((await session.get('/staff/users')).status).toBe(200);
    product.clock.travel(60_000);
    // Disabled, it counts no more, also for the session that showed it.
    expect((await session.post(`${path}/disable`, { code: codeOf(totp_secret) })).status).toBe(200);
    expect(face(await session.get('/staff/users'))).toEqual([403, 'second_factor_required']);
    const again = (await session.post(`${path}/setup`)).body.data.secret;
    const enabled = await session.post(`${path}/enable`, { code: codeOf(again) });
    expect((await (await sessionOf(product, enabled)).get('/staff/users')).status).toBe(200);
  });
});

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    [
      'showSecondFactor',
      'setUpSecondFactor',
      'enableSecondFactor',
      'disableSecondFactor',
      'renewRecoveryCodes',
    ],
  ));
