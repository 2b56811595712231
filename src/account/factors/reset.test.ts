import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newDevice, plantPasskey } from '../../../test/passkeys.ts';
import { newCustomer, type Person, type SignedIn, signedIn, staffHere } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
let support: SignedIn & { userId: number };
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());
// It asks again who staff is after ten minutes.
beforeEach(async () => {
  support = await staffHere(product, 'support');
});

const hour = 3_600_000;
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const pathOf = (userId: number) => `/staff/users/${userId}/factor-reset`;
const reason = { reason: 'Called back' };

/** Somebody who lost what they signed in with. */
async function withLost() {
  const person = await newCustomer(product);
  const here = await signedIn(product, person);
  const device = newDevice(product);
  const { options } = (await here.post('/dashboard/account/passkeys/options')).body.data;
  const added = await here.post('/dashboard/account/passkeys/verify', { credential: device.make(options) });
  expect(added.status).toBe(200);
  return person;
}

async function wantsFactor({ email, password }: Person): Promise<boolean> {
  const { body } = await product.nobody.post('/auth/login', { email, password });
  return body.data.second_factor_required;
}

async function linkOf({ email }: Person): Promise<string> {
  await settled(product);
  const { body } = await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`);
  const mail = body.data.mails.find((each: { subject: string }) => /will be taken away/.test(each.subject));
  return /token=(\S+)/.exec(mail?.body ?? '')?.[1] ?? '';
}

describe('a lost factor', () => {
  it('is taken away three days after its person was told, and then the password alone signs in', async () => {
    const person = await withLost();
    const asked = await support.post(pathOf(person.userId), reason);
    expect(asked.body.data.factor_reset).toMatchObject({
      user_id: person.userId,
      asked_by: { id: support.userId },
    });
    expect(face(await support.post(pathOf(person.userId), reason))).toEqual([409, 'conflict']);
    await settled(product);
    product.clock.travel(71 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(true);
    product.clock.travel(2 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(false);
    for (const table of ['passkeys', 'recovery_codes', 'factor_resets'])
      expect(await sql(product, `select 1 from ${table} where user_id = $1`, person.userId)).toEqual([]);
    const told = await sql<{ action: string }>(
      product,
      `select action from journal where organization_id = $1 and action like 'second_factor.reset%' order by id`,
      person.organizationId,
    );
    expect(told.map(({ action }) => action)).toEqual(['second_factor.reset_asked', 'second_factor.reset']);
  });

  it('stays when its person follows the link, which works once, and only in the mail', async () => {
    const person = await withLost();
    await support.post(pathOf(person.userId), reason);
    const token = await linkOf(person);
    const text = JSON.stringify(
      await sql(product, 'select data from journal union all select to_jsonb(body) from mails'),
    );
    expect(text).not.toContain(token);
    expect((await product.nobody.post('/auth/second-factor/keep', { token })).body.data).toEqual({
      kept: true,
    });
    expect(face(await product.nobody.post('/auth/second-factor/keep', { token }))).toEqual([
      400,
      'invalid_link',
    ]);
    await settled(product);
    product.clock.travel(80 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(true);
  });

  it('stays when staff takes it back', async () => {
    const person = await withLost();
    await support.post(pathOf(person.userId), reason);
    expect((await support.delete(pathOf(person.userId))).body.data).toEqual({ stopped: true });
    expect(face(await support.get(pathOf(person.userId)))).toEqual([404, 'not_found']);
    product.clock.travel(80 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(true);
  });

  it.each([
    ['is blocked', `status = 'blocked'`],
    ['is of staff no more', 'staff_role = null'],
    ['has another role', `staff_role = 'billing'`],
  ])('stays when who asked for it %s by then, and its person is told', async (_, change) => {
    const person = await withLost();
    await support.post(pathOf(person.userId), reason);
    await settled(product);
    await sql(product, `update users set ${change} where id = $1`, support.userId);
    product.clock.travel(80 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(true);
    await settled(product);
    const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(person.email)}`))
      .body.data;
    expect(mails.map(({ subject }: { subject: string }) => subject)).toContain('Your second factor stays');
  });

  it('stays as long as the mail did not leave', async () => {
    const person = await withLost();
    await support.post(pathOf(person.userId), reason);
    await settled(product);
    await sql(
      product,
      `update mails set state = 'queued' where recipient = $1 and template = 'second_factor.reset_asked'`,
      person.email,
    );
    product.clock.travel(200 * hour);
    await product.periodic('account.resetFactors');
    expect(await wantsFactor(person)).toBe(true);
  });

  it('stays when it was stopped and asked for anew while its end was under way', async () => {
    const person = await withLost();
    await support.post(pathOf(person.userId), reason);
    await settled(product);
    product.clock.travel(80 * hour);
    const other = new pg.Client({ connectionString: product.databaseUrl });
    await other.connect();
    await other.query('begin');
    await other.query('select 1 from users where id = $1 for update', [person.userId]);
    const ending = product.periodic('account.resetFactors');
    await expect
      .poll(() =>
        sql(product, `select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')`),
      )
      .not.toEqual([]);
    await other.query(`update factor_resets set due_at = due_at + interval '1 year' where user_id = $1`, [
      person.userId,
    ]);
    await other.query('commit');
    await ending;
    await other.end();
    expect(await wantsFactor(person)).toBe(true);
  });

  it('is not there to take, or is no matter of this role', async () => {
    const { userId } = await newCustomer(product);
    expect(face(await support.post(pathOf(userId), reason))).toEqual([409, 'second_factor_missing']);
    const admin = await staffHere(product, 'administrator');
    await plantPasskey(product, admin.userId);
    await plantPasskey(product, support.userId);
    expect(face(await support.post(pathOf(admin.userId), reason))).toEqual([403, 'permission_denied']);
    expect(face(await admin.post(pathOf(admin.userId), reason))).toEqual([403, 'permission_denied']);
    expect((await admin.post(pathOf(support.userId), reason)).status).toBe(200);
    expect(face(await product.staff.post(pathOf(userId), reason))).toEqual([403, 'session_required']);
  });
});

describe('a change', () =>
  changes.leaveEntries(() => product, ['keepFactors', 'askForFactorReset', 'revokeFactorReset']));
