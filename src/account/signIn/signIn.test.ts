import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { cookiesOf, newCustomer, newMember, type Person, sessionOf, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const good = 'seven otters read maps';
const better = 'nine herons fold linen';

function stranger(more: object = {}) {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  return { email, password: good, first_name: 'Grace', last_name: 'Lindqvist', ...more };
}

const register = (body: object) => product.nobody.post('/auth/register', body);
const logIn = (body: object, headers?: Record<string, string>) =>
  product.nobody.post('/auth/login', body, headers);

interface Mail {
  subject: string;
  body: string;
}

/** Mails to an address, the newest first, as an administrator reads them where they do not leave the product. */
async function mailsTo(email: string): Promise<Mail[]> {
  await settled(product);
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

function tokenIn(mail: Mail | undefined): string {
  return /\?token=([\w-]+)/.exec(mail?.body ?? '')?.[1] ?? '';
}

/** Somebody who registered and confirmed their address. */
async function registered(more: object = {}) {
  const body = stranger(more);
  expect((await register(body)).body.data).toEqual({ mail_sent: true });
  const [mail] = await mailsTo(body.email);
  expect((await product.nobody.post('/auth/email/verify', { token: tokenIn(mail) })).status).toBe(200);
  return body;
}

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

describe('a stranger', () => {
  it('registers, confirms the address, signs in, and acts for an organization of their own', async () => {
    const body = stranger({ organization_name: 'Lindqvist AB', country: 'SE' });
    expect((await register(body)).body.data).toEqual({ mail_sent: true });
    const [mail] = await mailsTo(body.email);
    expect(mail?.subject).toBe('Confirm your address');
    expect(mail?.body).toMatch(/^Hello Grace,\n\n.+\n\n.+:\nhttp:\/\/\S+\/verify-email\?token=[\w-]{43}\n/);
    expect(face(await logIn(body))).toEqual([400, 'invalid_request']); // what registers is more than what signs in
    const { email, password } = body;
    expect(face(await logIn({ email, password }))).toEqual([401, 'invalid_credentials']);
    const verified = await product.nobody.post('/auth/email/verify', { token: tokenIn(mail) });
    expect(verified.body.data).toEqual({ email_verified: true });

    const answer = await logIn({ email: email.toUpperCase(), password });
    expect(answer.body.data).toMatchObject({ second_factor_required: false, methods: [], user: { email } });
    const session = await sessionOf(product, answer);
    const { data } = (await session.get('/dashboard/account')).body;
    expect(data.user).toMatchObject({ email, first_name: 'Grace', email_verified: true });
    const { organizations } = (await session.get('/dashboard/organizations')).body.data;
    expect(organizations).toMatchObject([{ name: 'Lindqvist AB', role: 'owner' }]);
    const organization = { 'x-organization-id': String(organizations[0].id) };
    expect((await session.get('/dashboard/services', organization)).status).toBe(200);
  });

  it.each([
    ['de', undefined, 'Bestätigen Sie Ihre Adresse'],
    [undefined, 'fr;q=0.9, de-AT;q=0.8, en;q=0.5', 'Bestätigen Sie Ihre Adresse'],
    ['en', 'de', 'Confirm your address'],
    ['fr', 'de', 'Confirm your address'], // theirs all the same, once there are texts in it
    [undefined, 'fr, de;q=0', 'Confirm your address'],
    [undefined, undefined, 'Confirm your address'],
  ])(
    'is written to in the language %s, or of a browser that wants %s',
    async (language, accepts, subject) => {
      const body = stranger(language === undefined ? {} : { language });
      const headers: Record<string, string> = accepts === undefined ? {} : { 'accept-language': accepts };
      expect((await product.nobody.post('/auth/register', body, headers)).status).toBe(200);
      expect((await mailsTo(body.email))[0]?.subject).toBe(subject);
      const [kept] = await sql<{ language: string }>(
        product,
        'select language from users where email = $1',
        body.email,
      );
      expect(kept?.language).toBe(language ?? (subject.startsWith('B') ? 'de' : 'en'));
    },
  );

  it('has the link sent again that confirms the address', async () => {
    const body = stranger();
    await register(body);
    await mailsTo(body.email);
    expect((await product.nobody.post('/auth/email/resend', { email: body.email })).status).toBe(200);
    const mails = await mailsTo(body.email);
    expect(mails.map(({ subject }) => subject)).toEqual(['Confirm your address', 'Confirm your address']);
    expect((await product.nobody.post('/auth/email/verify', { token: tokenIn(mails[0]) })).status).toBe(200);
  });

  it('gets a session that scripts and neighbours cannot reach', async () => {
    const { email, password } = await registered();
    const [line = ''] = (await logIn({ email, password })).headers.getSetCookie();
    expect(line).toMatch(
      /^__Host-innkeeper=ins_[\w-]{32}[a-z0-9]{6}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
  });

  it('who has an account gets the same answer, and a mail that says so', async () => {
    const person = await newCustomer(product);
    const answer = await register(stranger({ email: person.email.toUpperCase() }));
    expect(answer.body.data).toEqual({ mail_sent: true });
    const [mail] = await mailsTo(person.email);
    expect(mail?.subject).toBe('You have an account already');
    expect(await sql(product, 'select 1 from users where lower(email) = $1', person.email)).toHaveLength(1);
    expect((await signedIn(product, person)).sessionId).toBeGreaterThan(0); // with the password as it was
    const set = await product.nobody.post('/auth/password/reset', { token: tokenIn(mail), password: better });
    expect(set.status).toBe(200);
  });

  it('who registers many times at once has one account and one organization', async () => {
    const body = stranger();
    const answers = await Promise.all(Array.from({ length: 6 }, () => register(body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const mails = await mailsTo(body.email);
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      'Confirm your address',
      ...Array(5).fill('You have an account already'),
    ]);
    const rows = await sql(
      product,
      'select 1 from memberships m join users u on u.id = m.user_id where u.email = $1',
      body.email,
    );
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['role', { role: 'admin' }],
    ['staff_role', { staff_role: 'administrator' }],
    ['credit', { credit: '100.00' }],
    ['status', { status: 'active', email_verified: true }],
    ['a line break', { first_name: 'Ada\r\nBcc: x@example.com' }],
    ['a blank name', { last_name: '   ' }],
    ['a list of addresses', { email: 'a@example.com, b@example.com' }],
    ['a header', { email: 'a@example.com\r\nBcc: b@example.com' }],
    ['a name beside the address', { email: 'Ada <a@example.com>' }],
    ['a letter of another script', { email: 'аda@example.com' }],
    ['a domain of another script', { email: 'ada@exаmple.com' }],
    ['a short password', { password: 'k7Gq-x2Wz' }],
    ['a long password', { password: 'ab cd '.repeat(50) }],
  ])('is refused with %s, and nothing changes', async (_, more) => {
    await settled(product);
    const before = await contents(product);
    expect(face(await register(stranger(more)))).toEqual([400, 'invalid_request']);
    expect(await contents(product)).toEqual(before);
  });

  it('is refused with a prototype', async () => {
    const { email } = stranger();
    const answer = await product.nobody.post(
      '/auth/register',
      `{"email":"${email}","__proto__":{"staff_role":"administrator"}}`,
    );
    expect(answer.status).toBe(400);
  });

  it.each([
    ...[
      'password12',
      'P@ssw0rd2026',
      'iloveyou123',
      '1234567890',
      'qwertyuiop',
      'qwertyuiop1234',
      '0987654321',
    ],
    ...['aaaaaaaaaaaa', 'abcabcabcabc', 'passwordpassword', 'adminadmin12', 'Summer2026!', 'abcdefghij'],
    ...['my name is Grace', 'LINDQVIST-4711-x'],
  ])('is refused the password %s in words', async (password) => {
    const answer = await register(stranger({ password }));
    expect(face(answer)).toEqual([400, 'password_refused']);
    expect(answer.body.details).toEqual([
      { field: 'password', message: expect.stringMatching(/guessed first|repeats|your name/) },
    ]);
  });

  it.each([
    'correct horse battery',
    'žluťoučký kůň úpěl',
    'R4nd0m-Kx92jdf',
    '日本語のとても長い言葉',
    ' spaces stay ',
  ])('signs in with the password %s, to the character', async (password) => {
    const { email } = await registered({ password });
    expect((await logIn({ email, password })).status).toBe(200);
    expect((await logIn({ email, password: password.normalize('NFD') })).status).toBe(200);
    for (const wrong of [
      password.trim() === password ? `${password} ` : password.trim(),
      password.slice(0, -1),
    ])
      expect(face(await logIn({ email, password: wrong }))).toEqual([401, 'invalid_credentials']);
  });
});

describe('a link in a mail', () => {
  it('is good once, and for what it is for alone', async () => {
    const body = stranger();
    await register(body);
    const [confirm] = await mailsTo(body.email);
    const asReset = await product.nobody.post('/auth/password/reset', {
      token: tokenIn(confirm),
      password: better,
    });
    expect(face(asReset)).toEqual([400, 'invalid_link']);
    const verify = () => product.nobody.post('/auth/email/verify', { token: tokenIn(confirm) });
    const answers = await Promise.all([verify(), verify(), verify()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);

    await product.nobody.post('/auth/password/forgot', { email: body.email });
    const [forgotten] = await mailsTo(body.email);
    expect(face(await product.nobody.post('/auth/email/verify', { token: tokenIn(forgotten) }))).toEqual([
      400,
      'invalid_link',
    ]);
    const refused = await product.nobody.post('/auth/password/reset', {
      token: tokenIn(forgotten),
      password: 'grace-grace-grace',
    });
    expect(face(refused)).toEqual([400, 'password_refused']); // and the link stays good
    const set = (password: string) =>
      product.nobody.post('/auth/password/reset', { token: tokenIn(forgotten), password });
    const sets = await Promise.all([set(better), set(`${better} 2`)]);
    expect(sets.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(face(await set(better))).toEqual([400, 'invalid_link']);
  });

  it('ends after its time', async () => {
    const person = await newCustomer(product);
    const link = async () => {
      await product.nobody.post('/auth/password/forgot', { email: person.email });
      return tokenIn((await mailsTo(person.email))[0]);
    };
    const token = await link();
    product.clock.travel(61 * 60_000);
    expect(face(await product.nobody.post('/auth/password/reset', { token, password: better }))).toEqual([
      400,
      'invalid_link',
    ]);
    await product.periodic('account.purgeLinks');
    expect(await sql(product, 'select 1 from account_links where user_id = $1', person.userId)).toEqual([]);
  });

  it('stands nowhere in the database, and staff that is no administrator does not read it', async () => {
    const person = await newCustomer(product);
    await product.nobody.post('/auth/password/forgot', { email: person.email });
    const token = tokenIn((await mailsTo(person.email))[0]);
    expect(token).toHaveLength(43);
    const text = JSON.stringify(await contents(product));
    expect(text).not.toContain(token);
    expect(text).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
  });

  it('is made for who has an account alone, with one answer for all', async () => {
    const person = await newCustomer(product);
    await settled(product);
    const count = async () => (await sql(product, 'select 1 from account_links')).length;
    const before = await count();
    for (const email of ['nobody@example.com', person.email]) {
      for (const path of ['/auth/password/forgot', '/auth/email/resend'])
        expect((await product.nobody.post(path, { email })).body.data).toEqual({ mail_sent: true });
    }
    await settled(product);
    expect(await count()).toBe(before + 1); // the address of this one is confirmed
    expect(await sql(product, 'select 1 from address_requests')).toEqual([]);
  });

  it('is forgotten after a week when nobody could answer it', async () => {
    await sql(
      product,
      `insert into address_requests (id, kind, email, data, created_at)
       values (1, 'reset', 'a@example.com', '{}', $1::timestamptz - interval '8 days'),
         (2, 'reset', 'b@example.com', '{}', $1::timestamptz - interval '6 days')`,
      product.clock.now(),
    );
    await product.periodic('account.purgeAddressRequests');
    expect(await sql(product, 'select id from address_requests')).toEqual([{ id: 2 }]);
    await sql(product, 'delete from address_requests');
  });
});

describe('a password that is set anew', () => {
  it('ends all sessions, and nobody signs in with the old one, not even at that moment', async () => {
    const person = await newCustomer(product);
    const before = await signedIn(product, person);
    await product.nobody.post('/auth/password/forgot', { email: person.email });
    const token = tokenIn((await mailsTo(person.email))[0]);
    const { email, password } = person;
    const [set, ...tries] = await Promise.all([
      product.nobody.post('/auth/password/reset', { token, password: better }),
      ...Array.from({ length: 6 }, () => logIn({ email, password })),
    ]);
    expect(set.body.data).toEqual({ password_set: true });
    expect(face(await before.get('/dashboard/account'))).toEqual([401, 'unauthorized']);
    for (const answer of tries) {
      const opened = cookiesOf(answer)['__Host-innkeeper'];
      if (opened === undefined) continue;
      expect((await product.nobody.get('/dashboard/account', { token: opened })).status).toBe(401);
    }
    expect(face(await logIn({ email, password }))).toEqual([401, 'invalid_credentials']);
    expect((await logIn({ email, password: better })).status).toBe(200);
    expect((await mailsTo(email)).map(({ subject }) => subject)).toContain('Your password was changed');
  });
});

describe('signing in', () => {
  it('says the same of a wrong password and of an unknown address', async () => {
    const { email } = await newCustomer(product);
    const [wrong, unknown] = [
      await logIn({ email, password: 'not the password' }),
      await logIn({ email: 'nobody@example.com', password: 'not the password' }),
    ];
    expect(face(wrong)).toEqual([401, 'invalid_credentials']);
    expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    expect([...wrong.headers.keys()]).toEqual([...unknown.headers.keys()]);
  });

  it('tells nobody who registers an address, and signs in with it, whether it had an account', async () => {
    const known = (await newCustomer(product)).email;
    const unknown = stranger().email;
    const answers = [];
    for (const email of [known, unknown]) {
      expect((await register({ ...stranger(), email })).status).toBe(200);
      await settled(product);
      answers.push(await logIn({ email, password: good }));
    }
    const [ofKnown, ofUnknown] = answers;
    expect(ofKnown && face(ofKnown)).toEqual([401, 'invalid_credentials']);
    expect({ ...ofUnknown?.body, request_id: '' }).toEqual({ ...ofKnown?.body, request_id: '' });
    expect([...(ofUnknown?.headers.keys() ?? [])]).toEqual([...(ofKnown?.headers.keys() ?? [])]);
  });

  it('of a blocked account is refused in words to who knows the password alone', async () => {
    const { email, password, userId } = await newCustomer(product);
    await sql(product, `update users set status = 'blocked' where id = $1`, userId);
    expect(face(await logIn({ email, password }))).toEqual([403, 'account_blocked']);
    expect(face(await logIn({ email, password: 'not the password' }))).toEqual([401, 'invalid_credentials']);
  });

  it('makes a token that nobody can have known before', async () => {
    const person = await newCustomer(product);
    const planted = await signedIn(product, await newCustomer(product));
    const answer = await logIn(
      { email: person.email, password: person.password },
      { cookie: planted.cookie, origin: product.url, token: planted.token },
    );
    const opened = await sessionOf(product, answer);
    expect(opened.token).not.toBe(planted.token);
    expect((await planted.get('/dashboard/account')).body.data.user.email).not.toBe(person.email);
  });

  it('is told by mail when it is in a browser that was not there before', async () => {
    const person = await newCustomer(product);
    const first = await signedIn(product, person, { 'user-agent': 'First\tbrowser' });
    await signedIn(product, person, { cookie: first.cookie, 'user-agent': 'First browser' });
    await signedIn(product, person, { 'user-agent': 'Other browser' });
    const told = (await mailsTo(person.email)).filter(({ subject }) => subject.includes('signed in'));
    expect(told).toHaveLength(2);
    expect(told[0]?.body).toContain('Other browser');
    // What somebody plants is no browser that is known.
    const planted = first.cookie.replace(/ind_[\w-]+/, `ind_${'x'.repeat(38)}`);
    const { cookie } = await signedIn(product, person, { cookie: planted });
    expect(cookie).not.toContain('xxxx');
  });

  it('renews a hash that was made with less work', async () => {
    const person = await newCustomer(product);
    const { hash } = await import('@node-rs/argon2');
    const old = await hash(person.password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    await sql(product, 'update users set password_hash = $2 where id = $1', person.userId, old);
    await signedIn(product, person);
    const [row] = await sql<{ password_hash: string }>(
      product,
      'select password_hash from users where id = $1',
      person.userId,
    );
    expect(row?.password_hash).toContain('$m=19456,t=2,p=1$');
    await signedIn(product, person);
  });

  it('from another host over plain http is refused with what to do, before the password is looked at', async () => {
    const { email, password } = await newCustomer(product);
    const from = async (headers: Record<string, string>) => rawLogIn({ email, password }, headers);
    const refused = await from({ host: 'panel.example.com' });
    expect([refused.status, refused.body.code]).toEqual([400, 'insecure_connection']);
    expect(refused.body.message).toMatch(/https/);
    expect((await from({ host: 'localhost:8080' })).status).toBe(200);
    expect((await from({ host: '[::1]:8080' })).status).toBe(200);
    expect((await from({ host: 'panel.example.com', 'x-forwarded-proto': 'https' })).status).toBe(200);
    const evil = await from({ host: 'localhost', origin: 'https://evil.example' });
    expect([evil.status, evil.body.code]).toEqual([403, 'origin_refused']);
  });

  /** fetch names its own host, so this speaks HTTP itself. */
  async function rawLogIn(body: object, headers: Record<string, string>) {
    const { request } = await import('node:http');
    const text = JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      body: { code: string; message: string };
    }>();
    const sent = request(`${product.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
    });
    sent.on('error', reject).on('response', async (response) => {
      const chunks = await response.toArray();
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    sent.end(text);
    return promise;
  }
});

describe('somebody signed in', () => {
  let person: Person;
  beforeAll(async () => {
    person = await newCustomer(product);
  });

  it('changes things by cookie from our own pages alone', async () => {
    const { cookie } = await signedIn(product, person);
    const found = (headers: Record<string, string>) =>
      product.nobody.post('/dashboard/organizations', { name: 'One more' }, { cookie, ...headers });
    expect(face(await found({}))).toEqual([403, 'origin_refused']);
    expect(face(await found({ origin: 'https://evil.example' }))).toEqual([403, 'origin_refused']);
    expect((await found({ origin: product.url })).status).toBe(200);
  });

  it('signs out, and the session is good no more, whoever kept it', async () => {
    const session = await signedIn(product, person);
    const answer = await session.post('/auth/logout');
    expect(answer.body.data).toEqual({ signed_out: true });
    expect(cookiesOf(answer)).toEqual({ '__Host-innkeeper': '' });
    expect(face(await session.get('/dashboard/account'))).toEqual([401, 'unauthorized']);
    expect(face(await session.post('/auth/logout'))).toEqual([401, 'unauthorized']);
    expect(face(await person.post('/auth/logout'))).toEqual([403, 'session_required']);
  });

  it('proves again who they are, and goes on under another token', async () => {
    const session = await signedIn(product, person);
    expect(face(await session.post('/auth/reauthenticate', { password: 'not the password' }))).toEqual([
      401,
      'invalid_credentials',
    ]);
    const answer = await session.post('/auth/reauthenticate', { password: person.password });
    expect(answer.body.data).toEqual({ proven: true });
    const renewed = await sessionOf(product, answer);
    expect([renewed.sessionId, renewed.token === session.token]).toEqual([session.sessionId, false]);
    expect((await session.get('/dashboard/account')).status).toBe(401);
    expect((await renewed.get('/dashboard/account')).status).toBe(200);
  });

  it('is no API key, nor the other way round', async () => {
    const { token } = await signedIn(product, person);
    for (const credential of [
      `ink_${token.slice(4)}`,
      person.key.replace('ink_', 'ins_'),
      token.replace('ins_', 'ind_'),
    ])
      expect((await product.nobody.get('/dashboard/account', { token: credential })).status).toBe(401);
  });

  it('stands in the account with when they were there last, to the minute', async () => {
    const member = await newMember(product, person.organizationId, 'viewer');
    const session = await signedIn(product, member);
    product.clock.travel(120_000);
    const seen = await until(
      async () => (await session.get('/dashboard/account')).body.data.user.lastActivity,
      (moment) => moment !== null,
    );
    expect(Date.parse(seen)).toBeGreaterThan(product.clock.now().getTime() - 60_000);
  });
});

it.each<[string, number, (email: string) => Promise<unknown>]>([
  ['signing in', 60, (email) => logIn({ email, password: 'not the password' })],
  ['registering', 40, (email) => register(stranger({ email }))],
  ['asking for a new password', 60, (email) => product.nobody.post('/auth/password/forgot', { email })],
  ['asking for the mail again', 60, (email) => product.nobody.post('/auth/email/resend', { email })],
])(
  'known and unknown addresses are answered after the same time when %s',
  async (_, rounds, ask) => {
    const person = await newCustomer(product);
    const times = { known: [] as number[], unknown: [] as number[] };
    const once = async (which: keyof typeof times) => {
      const email = which === 'known' ? person.email : stranger().email;
      const begun = process.hrtime.bigint();
      await ask(email);
      times[which].push(Number(process.hrtime.bigint() - begun) / 1e6);
    };
    // What an answer leaves to be done slows the next one: each comes first as often as the other.
    for (let round = 0; round < rounds; round += 1)
      for (const which of round % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const))
        await once(which);
    // Distributions, not single runs: how often a known one took longer than an unknown one is near half.
    const longer = times.known.flatMap((known) => times.unknown.map((unknown) => (known > unknown ? 1 : 0)));
    const share = longer.reduce((sum: number, each) => sum + each, 0) / longer.length;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
  },
  60_000,
);

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    [
      'verifyEmail',
      'resetPassword',
      'logIn',
      'logOut',
      'reauthenticate',
      'forgetPassword',
      'resendVerification',
    ],
  ));
