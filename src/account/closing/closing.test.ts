import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';
import { allPersonal } from '../../api.ts';
import { allPeriodicJobs } from '../../worker.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const path = '/dashboard/account/export';
const close = '/dashboard/account/close';
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Vxfg7qf8uGzYf3nrWfSxZHiNo3cYQVvqpVnZ1kqdk';
const tables = allPersonal.flatMap((room) => room.tables);

interface Export {
  user_id: number;
  tables: Record<string, Record<string, unknown>[]>;
}

async function exported(person: Person): Promise<Export> {
  const answer = await person.get(path);
  expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(200);
  expect(answer.headers.get('content-disposition')).toContain(`account-${person.userId}.json`);
  return answer.body.data;
}

async function mailsTo(email: string): Promise<{ subject: string; body: string }[]> {
  await settled(product);
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

/** Ends what an order made, so that nothing of it stands in the way. */
async function ended(person: Person) {
  const { serviceId, invoiceId } = await runningVps(product, person);
  const { body } = await person.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(body.success, JSON.stringify(body)).toBe(true);
  await until(
    () => person.get(`/dashboard/services/${serviceId}`),
    (answer) => answer.body.data.service.status === 'terminated',
  );
  return { serviceId, invoiceId };
}

describe('an export', () => {
  it('has every row of the person and of the organizations they own, nothing of others, and no secret', async () => {
    const person = await newCustomer(product, { creditMinor: 5_000 });
    const other = await newCustomer(product, { creditMinor: 5_000 });
    const { serviceId, invoiceId } = await runningVps(product, person);
    const foreign = await orderVps(product, other);
    await newMember(product, person.organizationId, 'viewer');
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
      ...[other.organizationId, person.userId],
    );
    await person.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key: publicKey });
    const { user_id, tables: found } = await exported(person);
    expect(user_id).toBe(person.userId);
    const ids = (table: string, column = 'id') => found[table]?.map((row) => row[column]);
    expect(ids('users')).toEqual([person.userId]);
    expect(ids('organizations')).toEqual([person.organizationId]);
    expect(ids('services')).toEqual([serviceId]);
    expect(ids('invoices')).toEqual([invoiceId]);
    expect(ids('machines', 'service_id')).toEqual([serviceId]);
    expect(ids('ssh_keys', 'name')).toEqual(['laptop']);
    expect(ids('memberships', 'user_id')).toHaveLength(3);
    expect(found.mails?.every((row) => row.recipient === person.email)).toBe(true);
    expect(found.mails).not.toEqual([]);
    const [counted] = await sql<{ count: number }>(
      product,
      `select count(*)::int as count from journal
       where organization_id = $1 or user_id = $2 or (subject_type = 'user' and subject_id = $2)`,
      ...[person.organizationId, person.userId],
    );
    expect(found.journal?.length).toBe(counted?.count);
    const text = JSON.stringify(found);
    for (const secret of ['$argon2', person.key, String(foreign.invoiceId), other.email])
      expect(text).not.toContain(secret);
    expect(Object.keys(found).sort()).toEqual(
      tables.flatMap(({ rows, table }) => (rows === null ? [] : [table])).sort(),
    );
  });

  it('and closing leave alone the mails of whoever owns the address that somebody names for bills', async () => {
    const [thief, victim] = [await newCustomer(product), await newCustomer(product)];
    await orderVps(product, victim);
    const before = await mailsTo(victim.email);
    expect(before).not.toEqual([]);
    await thief.patch('/dashboard/account', { billing_email: victim.email });
    expect(JSON.stringify(await exported(thief))).not.toContain(before[0]?.subject);
    const here = await signedIn(product, thief);
    expect((await here.post(close, {})).status).toBe(200);
    product.clock.travel(8 * 86_400_000);
    await product.periodic('account.forgetClosed');
    expect(await mailsTo(victim.email)).toEqual(before);
  });

  it('says neither who of staff did something nor what was noted then', async () => {
    const person = await newCustomer(product);
    const member = await newMember(product, person.organizationId, 'viewer');
    await sql(
      product,
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, ip, data, created_at)
       values ($1, 'order.held', 'invoice', 1, 'staff', 7, '192.0.2.77', '{"reasons": ["canary"]}', now())`,
      person.organizationId,
    );
    await person.patch(`/dashboard/organizations/${person.organizationId}/members/${member.userId}`, {
      role: 'support',
    });
    const rows = (await exported(person)).tables.journal ?? [];
    expect(rows.find(({ action }) => action === 'order.held')).toMatchObject({ actor_type: 'staff' });
    expect(JSON.stringify(rows)).not.toMatch(/canary|192\.0\.2\.77/);
    const theirs = (await exported(member)).tables.journal ?? [];
    const lowered = theirs.find(({ action }) => String(action).includes('role'));
    expect(lowered).toBeDefined();
    expect(lowered).not.toHaveProperty('user_id');
  });

  it('of many rows has each of them once, and of an organization that locks its owner out none', async () => {
    const person = await newCustomer(product);
    const many = 12_345;
    await sql(
      product,
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, data, created_at)
       select $1::bigint, 'test.row', 'test', i, 'user', $2::bigint, jsonb_build_object('text', repeat('x', 200)), now()
       from generate_series(1, $3::int) i`,
      ...[person.organizationId, person.userId, many],
    );
    const rows = (await exported(person)).tables.journal?.filter((row) => row.action === 'test.row') ?? [];
    expect(new Set(rows.map((row) => row.subject_id)).size).toBe(many);
    expect(rows).toHaveLength(many);
    await sql(product, 'update organizations set require_2fa = true where id = $1', person.organizationId);
    const here = await signedIn(product, person);
    expect((await exported(person)).tables.organizations).toEqual([]); // by a key
    const answer = await here.get(path);
    expect(answer.body.data.tables.organizations).toEqual([]);
    expect(answer.body.data.tables.users).toHaveLength(1);
  });

  it('lets go of its connection when its reader goes away, and waits while others read', async () => {
    const person = await newCustomer(product);
    const ids = { token: person.key, 'x-organization-id': String(person.organizationId) };
    const connections = () =>
      sql(
        product,
        `select 1 from pg_stat_activity where datname = current_database() and application_name = 'innkeeper read'`,
      );
    for (let nth = 0; nth < 3; nth += 1) {
      const leaving = new AbortController();
      const answer = await fetch(`${product.url}/api${path}`, { headers: ids, signal: leaving.signal });
      await answer.body?.getReader().read();
      leaving.abort();
      await until(connections, (open) => open.length === 0);
    }
    const { openReading } = product.ctx.db;
    const readings = [await openReading(1), await openReading(2)].filter((each) => typeof each !== 'string');
    expect(readings).toHaveLength(2);
    const busy = await person.get(path);
    expect(face(busy)).toEqual([429, 'rate_limited']);
    expect(busy.headers.get('retry-after')).toBe('60');
    for (const reading of readings) await reading.end();
    expect((await person.get(path)).status).toBe(200);
  });

  it('is one at a time for each person, and ends after half an hour however slowly it is taken', async () => {
    const [person, other] = [await newCustomer(product), await newCustomer(product)];
    await sql(
      product,
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, data, created_at)
       select null, 'test.row', 'test', i, 'user', $1::bigint, jsonb_build_object('change', repeat('x', 4000)), now()
       from generate_series(1, 10000) i`,
      person.userId,
    );
    const headers = {
      ...{ token: person.key, 'x-organization-id': String(person.organizationId) },
      'accept-encoding': 'identity', // forty megabytes, which no buffer holds
    };
    const slow = await fetch(`${product.url}/api${path}`, { headers });
    const reader = slow.body?.getReader();
    await reader?.read();
    const again = await person.get(path);
    expect(again && face(again)).toEqual([429, 'rate_limited']);
    expect(again.body.message).toContain('already');
    expect((await other.get(path)).status).toBe(200);
    product.clock.travel(31 * 60_000);
    const takeAll = async () => {
      while (reader !== undefined && !(await reader.read()).done);
    };
    await expect(takeAll()).rejects.toThrow();
    await until(
      () => person.get(path),
      ({ status }) => status !== 429,
    );
  });

  it('gives way to others when it is taken slowly', async () => {
    const slow = [await newCustomer(product), await newCustomer(product)];
    const taking: ReadableStreamDefaultReader<Uint8Array>[] = [];
    for (const { key, organizationId, userId } of slow) {
      await sql(
        product,
        `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, data, created_at)
         select null, 'test.row', 'test', i, 'user', $1::bigint, jsonb_build_object('change', repeat('x', 4000)), now()
         from generate_series(1, 10000) i`,
        userId,
      );
      const headers = { token: key, 'x-organization-id': String(organizationId) };
      const answer = await fetch(`${product.url}/api${path}`, {
        headers: { ...headers, 'accept-encoding': 'identity' },
      });
      const reader = answer.body?.getReader();
      await reader?.read();
      if (reader !== undefined) taking.push(reader);
    }
    const person = await newCustomer(product);
    expect(face(await person.get(path))).toEqual([429, 'rate_limited']);
    product.clock.travel(10 * 60_000);
    // Whoever has one under way is refused, and nobody's is ended for that.
    const again = await slow[0]?.get(path);
    expect(again && face(again)).toEqual([429, 'rate_limited']);
    const [held] = await sql(
      product,
      `select count(*)::int as locks from pg_locks where locktype = 'advisory' and objsubid = 1
         and ((classid::bigint << 32) | objid::bigint) = any($1::bigint[])`,
      slow.map(({ userId }) => -userId),
    );
    expect(held).toEqual({ locks: 2 });
    expect((await person.get(path)).status).toBe(200);
    const ends = await Promise.allSettled(
      taking.map(async (reader) => {
        while (!(await reader.read()).done);
      }),
    );
    // One place was enough.
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is for no key that is kept to an area, nor one for trying out', async () => {
    const person = await newCustomer(product);
    await sql(product, 'update api_keys set test = true where user_id = $1', person.userId);
    expect(face(await person.get(path))).toEqual([403, 'permission_denied']);
    await sql(product, 'update api_keys set test = false, vps = false where user_id = $1', person.userId);
    product.clock.travel(1_001);
    expect(face(await person.get(path))).toEqual([403, 'permission_denied']);
  });
});

describe('an account', () => {
  it('in use is not closed: services, invoices, credit and orphans are each named, and nothing changes', async () => {
    const person = await newCustomer(product, { creditMinor: 5_000 });
    const { serviceId } = await runningVps(product, person);
    const { invoiceId } = await orderVps(product, person);
    const shared = await newCustomer(product);
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', now())`,
      ...[shared.organizationId, person.userId],
    );
    await sql(product, `update memberships set role = 'viewer' where user_id = $1`, shared.userId);
    const here = await signedIn(product, person);
    // A test before this one went on by days, and what they bring comes by itself at some time: addresses have rested, say.
    for (const { name } of allPeriodicJobs) await product.periodic(name);
    const before = await settledContents(product);
    const refused = await here.post(close);
    expect(face(refused)).toEqual([409, 'account_in_use']);
    const fields = refused.body.details.map(({ field }: { field: string }) => field);
    expect(fields).toContain(`services[${serviceId}]`);
    expect(fields).toContain(`invoices[${invoiceId}]`);
    expect(fields).toContain(`organizations[${person.organizationId}].credit`);
    expect(fields).toContain(`organizations[${shared.organizationId}]`);
    expect(await contents(product)).toEqual(before);
  });

  it('that is closed lets nobody in, gives its address free, and is forgotten but for what is kept', async () => {
    const person = await newCustomer(product, { creditMinor: 5_000 });
    const other = await newCustomer(product);
    const { serviceId, invoiceId } = await ended(person);
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
      ...[other.organizationId, person.userId],
    );
    await person.patch('/dashboard/account', {
      phone: '+31 20 555 0100',
      billing_email: `bills-${person.email}`,
    });
    await person.patch('/dashboard/billing/profile', { name: 'Canary Jane', city: 'Graz' });
    await person.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key: publicKey });
    const [elsewhere, here] = [await signedIn(product, person), await signedIn(product, person)];
    await here.patch('/dashboard/account', { email: `new-${person.email}` });
    await settled(product);
    expect(await mailsTo(person.email)).not.toEqual([]);

    const closed = await here.post(close, { give_up_credit: true });
    expect(closed.status, JSON.stringify(closed.body)).toBe(200);
    expect(closed.body.data).toMatchObject({ closed: true, organization_ids: [person.organizationId] });
    expect(closed.headers.getSetCookie().join()).toContain('Max-Age=0');
    for (const client of [here, elsewhere, person])
      expect((await client.get('/dashboard/account')).status).toBe(401);
    const logIn = { email: person.email, password: person.password };
    expect(face(await product.nobody.post('/auth/login', logIn))).toEqual([401, 'invalid_credentials']);
    expect((await mailsTo(person.email))[0]?.subject).toBe('Your account is closed');

    const { user } = (await product.staff.get(`/staff/users/${person.userId}`)).body.data;
    expect(user).toMatchObject({ status: 'closed', first_name: '', phone: null, billing_email: null });
    expect(user.email).not.toContain(person.email);
    const unblocked = await product.staff.post(`/staff/users/${person.userId}/unblock`);
    expect(face(unblocked)).toEqual([409, 'conflict']);
    expect(face(await product.staff.patch(`/staff/users/${person.userId}`, { first_name: 'Eve' }))).toEqual([
      ...[409, 'conflict'],
    ]);

    const again = {
      email: person.email,
      password: 'seven otters read maps',
      first_name: 'G',
      last_name: 'L',
    };
    expect((await product.nobody.post('/auth/register', again)).status).toBe(200);
    await settled(product);
    const [anew] = await sql<{ id: number }>(product, 'select id from users where email = $1', person.email);
    expect(Number(anew?.id)).not.toBe(person.userId);
    const mailsAnew = (await mailsTo(person.email)).filter(
      ({ subject }) => subject === 'Confirm your address',
    );

    product.clock.travel(8 * 86_400_000);
    await product.periodic('account.forgetClosed');
    await product.periodic('account.purgeEmailChanges');
    for (const { table, people = [], closing } of tables.filter((each) => each.closing === 'deleted'))
      for (const column of people)
        expect([
          table,
          closing,
          await sql(product, `select 1 from ${table} where ${column} = $1`, person.userId),
        ]).toEqual([table, 'deleted', []]);
    expect(await sql(product, 'select 1 from invoices where id = $1', invoiceId)).toHaveLength(1);
    expect(await sql(product, 'select 1 from services where id = $1', serviceId)).toHaveLength(1);
    const left = await settledContents(product);
    // Invoices keep whom they were made out to, and the new account its own.
    const { invoices: _, users, mails, ...rest } = left;
    expect(users?.filter((row) => row.includes(String(person.userId))).join()).not.toContain(person.email);
    expect(mails?.filter((row) => row.includes(person.email))).toHaveLength(mailsAnew.length);
    const { address_requests: __, ...kept } = rest;
    expect(JSON.stringify(kept)).not.toContain(person.email);
    expect(JSON.stringify(kept.billing_profiles)).not.toContain('Canary Jane');
    const activity = await other.get(`/dashboard/organizations/${other.organizationId}/activity`);
    expect(activity.body.data.activity[0].action).toBe('member_removed');
  });

  it('that is closed is known in the journal by its number alone, a week later; what others said of others stays', async () => {
    const canary = 'Canarina';
    const person = await newCustomer(product, { firstName: canary });
    const other = await newCustomer(product);
    const guest = `guest${person.userId}@example.com`;
    const at = (who: Person) => `/dashboard/organizations/${who.organizationId}`;
    const here = await signedIn(product, person, { 'user-agent': `${canary}/1.0` });
    await person.patch(at(person), { name: `${canary} Works` });
    await here.post('/dashboard/account/ssh-keys', { name: `${canary} laptop`, public_key: publicKey });
    await here.post('/dashboard/account/api-keys', { name: `${canary} program` });
    await person.post(`${at(person)}/invitations`, { email: guest, role: 'viewer' });
    await other.post(`${at(other)}/invitations`, { email: person.email, role: 'admin' });
    const [mail] = (await mailsTo(person.email)).filter(({ body }) => /invitation\?token=/.test(body));
    const token = /\?token=([\w-]+)/.exec(mail?.body ?? '')?.[1];
    expect((await here.post('/dashboard/invitations/accept', { token })).status).toBe(200);
    await other.post(`${at(other)}/invitations`, { email: 'kept@example.com', role: 'viewer' });
    const late = await newCustomer(product);
    const { invitation: sent } = (
      await late.post(`${at(late)}/invitations`, { email: person.email, role: 'viewer' })
    ).body.data;
    await settled(product);
    const journal = async () =>
      (await sql<{ text: string }>(product, 'select to_jsonb(j)::text as text from journal j')).map(
        ({ text }) => text,
      );
    const naming = async (text: string) => (await journal()).filter((entry) => entry.includes(text));
    expect((await naming(canary)).length).toBeGreaterThan(4);
    expect((await naming(person.email)).length).toBeGreaterThan(1);
    const before = await journal();
    const closed = await here.post(close, {});
    expect(closed.status, JSON.stringify(closed.body)).toBe(200);
    await settled(product);
    product.clock.travel(86_400_000);
    // What was sent before goes, whatever became of it; who is invited at that address from now on is whoever has it now.
    expect((await late.delete(`${at(late)}/invitations/${sent.id}`)).status).toBe(200);
    const anew = await other.post(`${at(other)}/invitations`, { email: person.email, role: 'viewer' });
    expect(anew.status).toBe(200);
    product.clock.travel(7 * 86_400_000);
    await product.periodic('account.forgetClosed');
    expect(await naming(canary)).toEqual([]);
    const left = (await naming(person.email)).map((entry) => JSON.parse(entry));
    expect(left).toMatchObject([{ action: 'member.invited', subject_id: anew.body.data.invitation.id }]);
    const ips = await sql(
      product,
      'select 1 from journal where user_id = $1 and ip is not null',
      person.userId,
    );
    expect(ips).toEqual([]);
    expect(await naming('kept@example.com')).toHaveLength(1);
    expect((await journal()).length).toBeGreaterThanOrEqual(before.length);
    const { activity } = (await other.get(`${at(other)}/activity?limit=100`)).body.data;
    expect(activity.map(({ action }: { action: string }) => action)).toContain('member_joined');
    // Nobody else changes an entry, nor is anything forgotten of who is there.
    await expect(sql(product, `update journal set data = '{}'`)).rejects.toThrow('append-only');
    await expect(sql(product, `select forget_in_journal($1, '', 10)`, other.userId)).rejects.toThrow(
      'not closed',
    );
    // Nor what others know somebody by whose address was never theirs.
    const forgetting = `select forget_in_journal($1, 'kept@example.com', 10)`;
    await expect(sql(product, forgetting, person.userId)).rejects.toThrow('not known to have had');
    expect(await naming('kept@example.com')).toHaveLength(1);
    // Not even while something is forgotten is anything put in.
    const client = new pg.Client({ connectionString: product.databaseUrl });
    await client.connect();
    await client.query(`set innkeeper.forgetting = 'on'`);
    for (const change of [`data = data || '{"amount": "1"}'`, `ip = '192.0.2.9'`])
      await expect(client.query(`update journal set ${change}`), change).rejects.toThrow('append-only');
    await client.end();
  });

  it('is closed by who proved lately who they are, by no key, and by nobody of staff', async () => {
    const person = await newCustomer(product);
    const here = await signedIn(product, person);
    expect(face(await person.post(close))).toEqual([403, 'session_required']);
    product.clock.travel(10 * 60_000);
    expect(face(await here.post(close))).toEqual([403, 'reauthentication_required']);
    await here.post('/auth/reauthenticate', { password: person.password });
    const staff = await newStaff(product, 'support');
    const there = await signedIn(product, staff);
    expect(face(await there.post(close))).toEqual([409, 'staff_account']);
  });

  it('of two owners who close at once one stays', async () => {
    const first = await newCustomer(product);
    const second = await newMember(product, first.organizationId, 'owner');
    const viewer = await newMember(product, first.organizationId, 'viewer');
    const sessions = [await signedIn(product, first), await signedIn(product, second)];
    const headers = { 'x-organization-id': String(first.organizationId) };
    const answers = await Promise.all(sessions.map((here) => here.post(close, {}, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const owners = await sql(
      product,
      `select 1 from memberships m join users u on u.id = m.user_id and u.status = 'active'
       where m.organization_id = $1 and m.role = 'owner'`,
      first.organizationId,
    );
    expect(owners).toHaveLength(1);
    expect((await viewer.get('/dashboard/services')).status).toBe(200);
  });

  it('that is closed while it orders has no order, or is not closed', async () => {
    for (let nth = 0; nth < 5; nth += 1) {
      const person = await newCustomer(product);
      const here = await signedIn(product, person);
      const [order, closed] = await Promise.all([
        orderVps(product, person).catch(() => null),
        here.post(close, {}, { 'x-organization-id': String(person.organizationId) }),
      ]);
      const open = await sql(
        product,
        `select 1 from invoices where organization_id = $1 and status = 'unpaid'`,
        person.organizationId,
      );
      expect([order !== null, closed.status, open.length]).toEqual(
        order === null ? [false, 200, 0] : [true, 409, 1],
      );
    }
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['closeAccount']));
