import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newStaff, type SignedIn, signedIn, staffHere } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
let admin: SignedIn & { userId: number; key: string };
let made = 0;
beforeAll(async () => {
  product = await startTestProduct();
  admin = await staffHere(product, 'administrator');
});
afterAll(() => product.stop());

const path = '/staff/staff';
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

async function add(role = 'support') {
  made += 1;
  const body = { email: `kim${made}@example.com`, first_name: 'Kim', last_name: 'Berg', role };
  const answer = await admin.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.member;
}

async function mailsTo(email: string) {
  await settled(product);
  const { body } = await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`);
  return body.data.mails as { subject: string; body: string }[];
}

describe('an account of staff', () => {
  it('is made by an administrator, gets its password by a link, and opens with a second factor', async () => {
    const member = await add('billing');
    expect(member).toMatchObject({ role: 'billing', status: 'active', second_factor: false });
    const [mail] = await mailsTo(member.email);
    const token = /token=(\S+)/.exec(mail?.body ?? '')?.[1];
    const password = 'seven otters read maps';
    expect((await product.nobody.post('/auth/password/reset', { token, password })).status).toBe(200);
    const here = await signedIn(product, { email: member.email, password });
    expect(face(await here.get('/staff/users'))).toEqual([403, 'second_factor_required']);
    await sql(product, 'update sessions set strong = true where id = $1', here.sessionId);
    product.clock.travel(1_000);
    expect((await here.get('/staff/users')).status).toBe(200);
    expect(face(await here.get(path))).toEqual([403, 'permission_denied']);
    const again = { email: member.email, first_name: 'K', last_name: 'B', role: 'support' };
    expect(face(await admin.post(path, again))).toEqual([409, 'email_taken']);
  });

  it('has no address that an account gave up and can still have back', async () => {
    const { userId } = await newCustomer(product);
    const email = 'given-up@example.com';
    await sql(
      product,
      `insert into email_changes (id, user_id, old_email, new_email, state, hash, until, created_at)
       values (1, $1, $2, 'now@example.com', 'confirmed', '\\x00', $3::timestamptz + interval '7 days', $3)`,
      ...[userId, email, product.clock.now()],
    );
    const body = { email, first_name: 'Kim', last_name: 'Berg', role: 'support' };
    expect(face(await admin.post(path, body))).toEqual([409, 'email_taken']);
    await sql(product, 'delete from email_changes where id = 1');
    expect((await admin.post(path, body)).status).toBe(200);
  });

  it('is listed by role, and customers are none', async () => {
    const member = await add('operator');
    const { staff } = (await admin.get(`${path}?role=operator`)).body.data;
    expect(staff.map((each: { id: number }) => each.id)).toContain(member.id);
    expect(staff.every((each: { role: string }) => each.role === 'operator')).toBe(true);
    const { userId } = await newCustomer(product);
    for (const answer of [
      await admin.get(`${path}/${userId}`),
      await admin.patch(`${path}/${userId}`, { role: 'administrator' }),
      await admin.delete(`${path}/${userId}`),
      await admin.post(`${path}/${userId}/block`, { reason: 'No' }),
    ])
      expect(face(answer)).toEqual([404, 'not_found']);
  });

  it('is changed and removed, and its sessions end with its role', async () => {
    const member = await newStaff(product, 'support');
    const here = await signedIn(product, member);
    const raised = await admin.patch(`${path}/${member.userId}`, { role: 'operator', first_name: 'Kay' });
    expect(raised.body.data.member).toMatchObject({ role: 'operator', first_name: 'Kay' });
    expect((await here.get('/dashboard/account')).status).toBe(401);
    expect((await admin.delete(`${path}/${member.userId}`)).body.data).toEqual({ removed: true });
    expect(face(await member.get('/staff/services'))).toEqual([403, 'staff_only']);
    expect(face(await admin.get(`${path}/${member.userId}`))).toEqual([404, 'not_found']);
  });

  it('that is blocked is let in neither by session nor by key, until it is unblocked', async () => {
    const member = await newStaff(product, 'support');
    const here = await signedIn(product, member);
    const reason = { reason: 'Left the company' };
    expect((await admin.post(`${path}/${member.userId}/block`, reason)).body.data.member.status).toBe(
      'blocked',
    );
    expect([
      (await here.get('/dashboard/account')).status,
      (await member.get('/staff/users')).status,
    ]).toEqual([401, 401]);
    const { email, password } = member;
    expect(face(await product.nobody.post('/auth/login', { email, password }))).toEqual([
      403,
      'account_blocked',
    ]);
    expect(face(await admin.post(`${path}/${member.userId}/block`, reason))).toEqual([409, 'conflict']);
    expect((await admin.post(`${path}/${member.userId}/unblock`)).status).toBe(200);
    expect((await member.get('/staff/users')).status).toBe(200);
    const [told] = await mailsTo(member.email);
    expect(told?.subject).toMatch(/blocked|open again/);
    expect(told?.body).not.toContain('Left the company');
  });

  it('is made by a person who proved who they are: not with a key, not after ten minutes', async () => {
    const body = { email: 'new@example.com', first_name: 'N', last_name: 'N', role: 'administrator' };
    expect(face(await product.nobody.post(path, body, { token: admin.key }))).toEqual([
      403,
      'session_required',
    ]);
    const late = await staffHere(product, 'administrator');
    product.clock.travel(10 * 60_000);
    const before = await settledContents(product);
    for (const refused of [await late.post(path, body), await late.delete(`${path}/${admin.userId}`)])
      expect(face(refused)).toEqual([403, 'reauthentication_required']);
    expect({ ...(await contents(product)), sessions: null }).toEqual({ ...before, sessions: null });
  });
});

describe('the last administrator', () => {
  it('is neither removed nor lowered nor blocked, not by two at once', async () => {
    await sql(product, `update users set staff_role = 'support' where staff_role = 'administrator'`);
    const [one, other] = [
      await staffHere(product, 'administrator'),
      await staffHere(product, 'administrator'),
    ];
    const ways = [
      (by: SignedIn, id: number) => by.patch(`${path}/${id}`, { role: 'support' }),
      (by: SignedIn, id: number) => by.delete(`${path}/${id}`),
      (by: SignedIn, id: number) => by.post(`${path}/${id}/block`, { reason: 'Race' }),
    ];
    for (const way of ways) {
      for (const { userId } of [one, other])
        await sql(
          product,
          `update users set staff_role = 'administrator', status = 'active' where id = $1`,
          userId,
        );
      const [first, second] = await Promise.all(
        [one, other].map(async ({ email, password, userId }) => {
          const here = await signedIn(product, { email, password });
          await sql(product, 'update sessions set strong = true where id = $1', here.sessionId);
          return { here, userId };
        }),
      );
      if (!first || !second) throw new Error('two there are');
      // Each takes the role from the other, or from themselves.
      const answers = await Promise.all([way(first.here, second.userId), way(second.here, first.userId)]);
      expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
      const left = await sql<{ id: number }>(
        product,
        `select id from users where staff_role = 'administrator' and status = 'active'`,
      );
      expect(left).toHaveLength(1);
      const last = Number(left[0]?.id) === first.userId ? first : second;
      const again = await signedIn(product, last.userId === one.userId ? one : other);
      await sql(product, 'update sessions set strong = true where id = $1', again.sessionId);
      expect(face(await way(again, last.userId))).toEqual([409, 'last_administrator']);
    }
  });
});

describe('a customer', () => {
  it('is corrected, blocked and let in again by staff, finds it in their organization, and is told', async () => {
    const support = await newStaff(product, 'support');
    const customer = await newCustomer(product);
    const here = await signedIn(product, customer);
    const user = `/staff/users/${customer.userId}`;
    const corrected = await support.patch(user, { last_name: 'Berg', phone: '+31 20 555 0100' });
    expect(corrected.body.data.user).toMatchObject({
      last_name: 'Berg',
      phone: '+31 20 555 0100',
      first_name: 'Test',
    });
    const blocked = await support.post(`${user}/block`, { reason: 'Sends spam' });
    expect(blocked.body.data.user.status).toBe('blocked');
    expect([
      (await here.get('/dashboard/account')).status,
      (await customer.get('/dashboard/account')).status,
    ]).toEqual([401, 401]);
    expect((await support.post(`${user}/unblock`)).body.data.user.status).toBe('active');
    expect((await customer.get('/dashboard/account')).status).toBe(200);
    await settled(product);
    const told = await sql<{ action: string; actor_type: string; user_id: number }>(
      product,
      `select action, actor_type, user_id from journal where organization_id = $1 and action like 'account.%' order by id`,
      customer.organizationId,
    );
    expect(told.map(({ action, actor_type }) => [action, actor_type])).toEqual([
      ...[
        ['account.corrected', 'staff'],
        ['account.blocked', 'staff'],
        ['account.unblocked', 'staff'],
      ],
    ]);
    expect(told.map(({ user_id }) => Number(user_id))).toEqual(Array(3).fill(support.userId));
    expect((await mailsTo(customer.email)).map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([
        'Your account was corrected',
        'Your account was blocked',
        'Your account is open again',
      ]),
    );
  });

  it('is no person of staff, whom administrators see to elsewhere', async () => {
    const support = await newStaff(product, 'support');
    const user = `/staff/users/${admin.userId}`;
    for (const refused of [
      await support.patch(user, { first_name: 'X' }),
      await support.post(`${user}/block`, { reason: 'X' }),
      await support.post(`${user}/unblock`),
    ])
      expect(face(refused)).toEqual([409, 'staff_account']);
  });

  it.each([
    { email: 'x@example.com' },
    { status: 'blocked' },
    { staff_role: 'administrator' },
    { first_name: '' },
  ])('is not corrected by %j', async (body) => {
    const { userId } = await newCustomer(product);
    expect(face(await product.staff.patch(`/staff/users/${userId}`, body))).toEqual([400, 'invalid_request']);
  });
});

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    ['addStaff', 'updateStaff', 'removeStaff', 'blockStaff', 'unblockStaff', 'correctUser'],
  ));
