import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../test/client.ts';
import { watchChanges } from '../../../test/noted.ts';
import { type Mischief, newDevice } from '../../../test/passkeys.ts';
import {
  newCustomer,
  newStaff,
  type Person,
  type SignedIn,
  sessionOf,
  signedIn,
} from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
/** Somebody whose passkey is refused and no more. */
let kept: Awaited<ReturnType<typeof withPasskey>>;
beforeAll(async () => {
  product = await startTestProduct();
  kept = await withPasskey();
});
afterAll(() => product.stop());
beforeEach(() => product.clock.travel(60_000));

const path = '/dashboard/account/passkeys';
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
type Device = ReturnType<typeof newDevice>;

async function optionsOf(client: Client, at: string, body: object = {}) {
  const answer = await client.post(at, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.options;
}

async function add(session: SignedIn, device: Device, organizationId?: number) {
  const credential = device.make(await optionsOf(session, `${path}/options`));
  const answer = await session.post(`${path}/verify`, { credential, name: 'Phone' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return { data: answer.body.data, session: await sessionOf(product, answer, organizationId) };
}

/** Somebody with a passkey, signed in. */
async function withPasskey() {
  const person = await newCustomer(product);
  const device = newDevice(product);
  const before = await signedIn(product, person);
  const { data, session } = await add(before, device, person.organizationId);
  return { person, device, before, session, data, id: Number(data.passkey.id) };
}

async function show(device: Device, wrong: Mischief = {}) {
  const credential = device.show(await optionsOf(product.nobody, '/auth/passkeys/options'), wrong);
  return product.nobody.post('/auth/passkeys/verify', { credential });
}

async function half({ email, password }: Person): Promise<SignedIn> {
  const answer = await product.nobody.post('/auth/login', { email, password });
  expect(answer.body.data.second_factor_required).toBe(true);
  return sessionOf(product, answer);
}

async function subjectsTo(email: string): Promise<string[]> {
  await settled(product);
  const mails = await sql<{ subject: string }>(
    product,
    'select subject from mails where recipient = $1',
    email,
  );
  return mails.map(({ subject }) => subject);
}

describe('a passkey', () => {
  it('is added, signs in alone, is listed, renamed, removed, and then signs in no more', async () => {
    const { person, device, before, session, data, id } = await withPasskey();
    expect(data.passkey).toMatchObject({ name: 'Phone', synced: false, last_used: null });
    expect(new Set(data.recovery_codes).size).toBe(10);
    expect((await before.get('/dashboard/account')).status).toBe(401); // it goes on under another token

    const answer = await show(device);
    expect(answer.body.data).toMatchObject({ second_factor_required: false, user: { email: person.email } });
    const here = await sessionOf(product, answer, person.organizationId);
    expect((await here.get('/dashboard/account/sessions')).body.data.sessions[0]).toMatchObject({
      ...{ current: true, method: 'passkey', second_factor: true },
    });
    const account = (await here.get('/dashboard/account')).body.data;
    expect(account).toMatchObject({ twofa_status: true, passkeys: [{ id, name: 'Phone' }] });
    expect(account.passkeys[0].last_used).not.toBeNull();

    expect((await here.patch(`${path}/${id}`, { name: 'Old phone' })).body.data.passkey.name).toBe(
      'Old phone',
    );
    expect((await here.get(path)).body.data.passkeys).toMatchObject([{ id, name: 'Old phone' }]);
    expect((await here.delete(`${path}/${id}`)).body.data).toEqual({ removed: true });
    expect((await session.get(path)).body.data.passkeys).toEqual([]);
    expect(face(await show(device))).toEqual([401, 'invalid_passkey']);
    expect((await session.get('/dashboard/account')).body.data.twofa_status).toBe(false);
    expect(await sql(product, 'select 1 from recovery_codes where user_id = $1', person.userId)).toEqual([]);
    expect(await subjectsTo(person.email)).toEqual(
      expect.arrayContaining(['Your account has a new passkey', 'A passkey was removed from your account']),
    );
  });

  it('is asked for after the password, or a recovery code in its place', async () => {
    const { person, device, data } = await withPasskey();
    const { email, password } = person;
    const login = await product.nobody.post('/auth/login', { email, password });
    expect(login.body.data).toEqual({ second_factor_required: true, methods: ['recovery_code', 'passkey'] });
    const begun = await sessionOf(product, login, person.organizationId);
    const options = await optionsOf(begun, '/auth/passkeys/options', { second_factor: true });
    expect(options.allowCredentials).toHaveLength(1);
    const shown = { credential: device.show(options), second_factor: true };
    const answer = await begun.post('/auth/passkeys/verify', shown);
    const here = await sessionOf(product, answer, person.organizationId);
    expect((await here.get('/dashboard/account/sessions')).body.data.sessions[0]).toMatchObject({
      ...{ current: true, method: 'password', second_factor: true },
    });
    expect(face(await begun.post('/auth/passkeys/verify', shown))).toEqual([401, 'unauthorized']);
    const again = await half(person);
    const recovery_code = data.recovery_codes[0];
    expect((await again.post('/auth/login/2fa', { recovery_code })).status).toBe(200);
  });

  it('proves again who somebody is, as a password does', async () => {
    const { person, device, session, id } = await withPasskey();
    product.clock.travel(11 * 60_000);
    for (const refused of [await session.post(`${path}/options`), await session.delete(`${path}/${id}`)])
      expect(face(refused)).toEqual([403, 'reauthentication_required']);
    const options = await optionsOf(session, '/auth/reauthenticate/passkey/options');
    const proven = await session.post('/auth/reauthenticate/passkey', { credential: device.show(options) });
    expect(proven.body.data).toEqual({ proven: true });
    const renewed = await sessionOf(product, proven, person.organizationId);
    expect((await session.get(path)).status).toBe(401);
    expect((await renewed.delete(`${path}/${id}`)).status).toBe(200);
  });

  it('is the first factor: sessions that know the password alone end', async () => {
    const person = await newCustomer(product);
    const [one, other] = [await signedIn(product, person), await signedIn(product, person)];
    await add(one, newDevice(product), person.organizationId);
    expect((await other.get('/dashboard/account')).status).toBe(401);
  });

  it('is one of several: another one brings no recovery codes, and the last one takes them along', async () => {
    const { person, session, data, id } = await withPasskey();
    const second = await add(session, newDevice(product), person.organizationId);
    expect(second.data.recovery_codes).toBeNull();
    expect((await second.session.delete(`${path}/${id}`)).status).toBe(200);
    const begun = await half(person);
    expect((await begun.post('/auth/login/2fa', { recovery_code: data.recovery_codes[0] })).status).toBe(200);
    expect((await second.session.delete(`${path}/${second.data.passkey.id}`)).status).toBe(200);
    expect((await signedIn(product, person)).sessionId).toBeGreaterThan(0);
  });

  it('belongs to one account, and only its person sees to it', async () => {
    const [{ device, id }, other] = [await withPasskey(), await withPasskey()];
    for (const refused of [
      await other.session.get(`${path}/${id}`),
      await other.session.patch(`${path}/${id}`, { name: 'Mine' }),
      await other.session.delete(`${path}/${id}`),
    ])
      expect(face(refused)).toEqual([403, 'forbidden']);
    const credential = device.make(await optionsOf(other.session, `${path}/options`));
    expect(face(await other.session.post(`${path}/verify`, { credential }))).toEqual([
      409,
      'duplicate_passkey',
    ]);
  });

  it('is not added with an API key, and twenty are the most', async () => {
    const { person, session } = await withPasskey();
    expect(face(await person.post(`${path}/options`))).toEqual([403, 'session_required']);
    await sql(
      product,
      `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, synced, created_at)
       select user_id + n, user_id, 'P', int8send(user_id + n), '', 0, '{}', true, created_at
       from passkeys, generate_series(1, 19) n where user_id = $1`,
      person.userId,
    );
    expect(face(await session.post(`${path}/options`))).toEqual([409, 'too_many']);
  });

  it("opens staff's part", async () => {
    const staff = await newStaff(product, 'administrator');
    const device = newDevice(product);
    const here = await signedIn(product, staff);
    expect(face(await here.get('/staff/users'))).toEqual([403, 'second_factor_required']);
    const { session } = await add(here, device);
    expect((await session.get('/staff/users')).status).toBe(200);
    expect((await (await sessionOf(product, await show(device))).get('/staff/users')).status).toBe(200);
  });
});

describe('a passkey is refused', () => {
  it.each<[string, Mischief]>([
    ['of another origin', { origin: 'https://localhost.example.com' }],
    ['of our host by another scheme', { origin: 'https://localhost' }],
    ['of another relying party', { rpId: 'example.com' }],
    ['with a challenge that we did not make', { challenge: 'A'.repeat(43) }],
    ['that was made and not shown', { type: 'webauthn.create' }],
    ['whose device did not make sure who uses it', { isUnverified: true }],
    ['in a frame of another site', { crossOrigin: true }],
    [
      'that was signed with another key',
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
    ['that does not say whose it is', { userHandle: null }],
    ['that says it is another person’s', { userHandle: Buffer.from('4242').toString('base64url') }],
  ])('%s', async (_, wrong) => {
    const { device, person } = kept;
    await sql(product, 'update passkeys set last_used_at = null where user_id = $1', person.userId);
    expect(face(await show(device, wrong))).toEqual([401, 'invalid_passkey']);
    expect(
      await sql(
        product,
        'select 1 from passkeys where user_id = $1 and last_used_at is not null',
        person.userId,
      ),
    ).toEqual([]);
    expect((await show(device)).status).toBe(200);
  });

  it('when its challenge was used, by whatever, also by many at once', async () => {
    const { device } = await withPasskey();
    const ask = () => optionsOf(product.nobody, '/auth/passkeys/options');
    const verify = (credential: object) => product.nobody.post('/auth/passkeys/verify', { credential });
    const credential = device.show(await ask());
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => verify(credential)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const options = await ask();
    expect(face(await verify(device.show(options, { rpId: 'example.com' })))).toEqual([
      401,
      'invalid_passkey',
    ]);
    expect(face(await verify(device.show(options)))).toEqual([401, 'invalid_passkey']);
  });

  it('when its challenge is older than five minutes, which is forgotten then', async () => {
    const { device } = kept;
    const options = await optionsOf(product.nobody, '/auth/passkeys/options');
    product.clock.travel(5 * 60_000);
    const credential = device.show(options);
    expect(face(await product.nobody.post('/auth/passkeys/verify', { credential }))).toEqual([
      401,
      'invalid_passkey',
    ]);
    await product.periodic('account.purgeChallenges');
    expect(await sql(product, 'select 1 from passkey_challenges')).toEqual([]);
  });

  it('when its challenge is for something else', async () => {
    const { person, device, session } = await withPasskey();
    const begun = await half(person);
    const asked = {
      alone: () => optionsOf(product.nobody, '/auth/passkeys/options'),
      second: () => optionsOf(begun, '/auth/passkeys/options', { second_factor: true }),
      again: () => optionsOf(session, '/auth/reauthenticate/passkey/options'),
      add: () => optionsOf(session, `${path}/options`),
    };
    const used = {
      alone: (credential: object) => product.nobody.post('/auth/passkeys/verify', { credential }),
      second: (credential: object) =>
        begun.post('/auth/passkeys/verify', { credential, second_factor: true }),
      again: (credential: object) => session.post('/auth/reauthenticate/passkey', { credential }),
    };
    for (const [made, options] of Object.entries(asked))
      for (const [where, verify] of Object.entries(used)) {
        if (made === where) continue;
        expect([made, where, ...face(await verify(device.show(await options())))]).toEqual([
          ...[made, where, 401, 'invalid_passkey'],
        ]);
      }
    const credential = newDevice(product).make(await asked.alone());
    expect(face(await session.post(`${path}/verify`, { credential }))).toEqual([400, 'passkey_refused']);
  });

  it("after another person's password, and in another person's session", async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    const begun = await half(one.person);
    const options = await optionsOf(begun, '/auth/passkeys/options', { second_factor: true });
    const body = { credential: other.device.show(options), second_factor: true };
    expect(face(await begun.post('/auth/passkeys/verify', body))).toEqual([401, 'invalid_passkey']);
    const again = await optionsOf(one.session, '/auth/reauthenticate/passkey/options');
    const proof = { credential: other.device.show(again) };
    expect(face(await one.session.post('/auth/reauthenticate/passkey', proof))).toEqual([
      401,
      'invalid_passkey',
    ]);
    const added = newDevice(product).make(await optionsOf(one.session, `${path}/options`));
    expect(face(await other.session.post(`${path}/verify`, { credential: added }))).toEqual([
      400,
      'passkey_refused',
    ]);
  });

  it('whose counter went back, also by two at once, and its person is told', async () => {
    const { person, device } = await withPasskey();
    expect((await show(device, { counter: 7 })).status).toBe(200);
    for (const counter of [7, 6, 0])
      expect(face(await show(device, { counter }))).toEqual([401, 'passkey_went_back']);
    const two = await Promise.all([show(device, { counter: 8 }), show(device, { counter: 8 })]);
    expect(two.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect(await subjectsTo(person.email)).toContain('A passkey of your account was refused');
  });

  it('that always counts zero, as those that are synced do, goes on', async () => {
    const { device } = await withPasskey();
    for (let time = 0; time < 2; time += 1) expect((await show(device, { counter: 0 })).status).toBe(200);
  });

  it.each([
    ['nothing', {}],
    ['no object', { credential: 'x' }],
    ['bytes that are none', { credential: { id: '!', rawId: '!', type: 'public-key', response: {} } }],
  ])('that is %s: 400', async (_, body) => {
    expect(face(await product.nobody.post('/auth/passkeys/verify', body))).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['clientDataJSON', Buffer.from('nonsense').toString('base64url')],
    ['clientDataJSON', Buffer.from('null').toString('base64url')],
    ['authenticatorData', 'AAAA'],
    ['signature', 'AAAA'],
  ])('whose %s is %s, without an error of ours', async (field, value) => {
    const { device } = kept;
    const credential = device.show(await optionsOf(product.nobody, '/auth/passkeys/options'));
    const response = { ...credential.response, [field]: value };
    const answer = await product.nobody.post('/auth/passkeys/verify', {
      credential: { ...credential, response },
    });
    expect(face(answer)).toEqual([401, 'invalid_passkey']);
  });

  it('of who is blocked: 403, and no session begins', async () => {
    const { device, person } = await withPasskey();
    await sql(product, `update users set status = 'blocked' where id = $1`, person.userId);
    const before = await sql(product, 'select id from sessions where user_id = $1', person.userId);
    expect(face(await show(device))).toEqual([403, 'account_blocked']);
    expect(await sql(product, 'select id from sessions where user_id = $1', person.userId)).toEqual(before);
  });
});

describe('a new passkey is refused', () => {
  let plain: Person;
  beforeAll(async () => {
    plain = await newCustomer(product);
  });

  it.each<[string, Mischief]>([
    ['of another origin', { origin: 'https://example.com' }],
    ['of another relying party', { rpId: 'example.com' }],
    ['with a challenge that we did not make', { challenge: 'A'.repeat(43) }],
    ['that was shown and not made', { type: 'webauthn.get' }],
    ['whose device did not make sure who uses it', { isUnverified: true }],
  ])('%s, and changes nothing', async (_, wrong) => {
    const session = await signedIn(product, plain);
    const credential = newDevice(product).make(await optionsOf(session, `${path}/options`), wrong);
    await settled(product);
    const { passkey_challenges: _before, ...before } = await contents(product);
    expect(face(await session.post(`${path}/verify`, { credential }))).toEqual([400, 'passkey_refused']);
    const { passkey_challenges: _after, ...after } = await contents(product);
    expect(after).toEqual(before);
  });

  it('that brings certificates, which would have us look up where they point to', async () => {
    const session = await signedIn(product, plain);
    const statement = new Map<string, unknown>([
      ...([
        ['alg', -7],
        ['sig', Buffer.alloc(70)],
        ['x5c', [Buffer.alloc(300)]],
      ] as const),
    ]);
    const credential = newDevice(product).make(await optionsOf(session, `${path}/options`), {}, statement);
    expect(face(await session.post(`${path}/verify`, { credential }))).toEqual([400, 'passkey_refused']);
  });

  it('when it is shown twice', async () => {
    const session = await signedIn(product, await newCustomer(product));
    const credential = newDevice(product).make(await optionsOf(session, `${path}/options`));
    const answers = await Promise.all([1, 2, 3].map(() => session.post(`${path}/verify`, { credential })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  });
});

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    ['addPasskey', 'renamePasskey', 'removePasskey', 'signInWithPasskey', 'reauthenticateWithPasskey'],
  ));
