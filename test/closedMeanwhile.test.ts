/**
 * What was let in before an account or an organization was closed or blocked, and comes to its turn afterwards: it makes
 * and changes nothing. Each request waits for a row that another transaction holds, which closes it and then lets go.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Response } from './client.ts';
import { runningVps } from './orders.ts';
import { newCustomer, newMember, type Person, type SignedIn, signedIn } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { contents, settled, settledContents, sql } from './sql.ts';

let product: TestProduct;
let holder: pg.Client;
beforeAll(async () => {
  product = await startTestProduct();
  holder = new pg.Client({ connectionString: product.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await product.stop();
});

type Table = 'users' | 'organizations';

/** What came to who asked while another transaction had the row, which then gave it another status. */
async function meanwhile(
  table: Table,
  id: number,
  status: string,
  ask: () => Promise<Response>,
): Promise<string> {
  await settled(product);
  await holder.query('begin');
  await holder.query(`select id from ${table} where id = $1 for update`, [id]);
  const asked = ask();
  const isWaiting = () =>
    sql(
      product,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
  let isOver = false;
  asked.finally(() => {
    isOver = true;
  });
  await until(isWaiting, (waiting) => isOver || waiting.length > 0);
  expect(isOver, 'it waited for nobody').toBe(false);
  await holder.query(`update ${table} set status = $2 where id = $1`, [id, status]);
  await holder.query('commit');
  const before = await settledContents(product);
  const answer = await asked;
  await settled(product);
  expect(await contents(product)).toEqual(before);
  return `${answer.status} ${answer.body?.code}`;
}

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Vxfg7qf8uGzYf3nrWfSxZHiNo3cYQVvqpVnZ1kqdk';

/** What people do about themselves. */
const ofPeople: Record<string, (here: SignedIn, person: Person) => Promise<Response>> = {
  createOrganization: (here) => here.post('/dashboard/organizations', { name: 'Another' }),
  updateAccountDetails: (here) => here.patch('/dashboard/account', { first_name: 'Eve' }),
  'updateAccountDetails, its password': (here, { password }) =>
    here.patch('/dashboard/account', { current_password: password, password: 'nine herons fold linen' }),
  'updateAccountDetails, its address': (here, { email }) =>
    here.patch('/dashboard/account', { email: `new-${email}` }),
  updatePreferences: (here) => here.post('/dashboard/account/preferences', { language: 'de' }),
  createSshKey: (here) => here.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key: publicKey }),
  createApiKey: (here) => here.post('/dashboard/account/api-keys', { name: 'Program' }),
  setUpSecondFactor: (here) => here.post('/dashboard/account/2fa/setup'),
  endOtherSessions: (here) => here.delete('/dashboard/account/sessions'),
  closeAccount: (here) => here.post('/dashboard/account/close', {}),
};

describe('a person whose account is closed or blocked meanwhile', () => {
  it.each(Object.keys(ofPeople).flatMap((name) => [[name, 'closed'] as const, [name, 'blocked'] as const]))(
    'does nothing more: %s (%s)',
    async (name, status) => {
      const person = await newCustomer(product);
      const here = await signedIn(product, person);
      const ask = ofPeople[name];
      if (ask === undefined) throw new Error(name);
      expect(await meanwhile('users', person.userId, status, () => ask(here, person))).toBe(
        '401 unauthorized',
      );
    },
  );

  it.each(['closed', 'blocked'])('joins no organization (%s)', async (status) => {
    const [owner, guest] = [await newCustomer(product), await newCustomer(product)];
    const token = await invitationOf(owner, guest.email);
    const accept = () => guest.post('/dashboard/invitations/accept', { token });
    expect(await meanwhile('users', guest.userId, status, accept)).toBe('401 unauthorized');
  });

  it('founds none either, when it registered a moment ago', async () => {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    const wish = { email, password: 'seven otters read maps', first_name: 'Grace', last_name: 'Lindqvist' };
    // The job that founds it waits until the account is there, and closed.
    await holder.query('begin');
    await holder.query('lock table organizations in share row exclusive mode');
    expect((await product.nobody.post('/auth/register', wish)).status).toBe(200);
    const [user] = await until(
      () => sql<{ id: number }>(product, 'select id from users where email = $1', email),
      (rows) => rows.length > 0,
    );
    await sql(product, `update users set status = 'closed' where id = $1`, user?.id).catch(() => undefined);
    await holder.query('rollback');
    await settled(product);
    const founded = await sql(product, 'select 1 from memberships where user_id = $1', user?.id);
    const [now] = await sql<{ status: string }>(product, 'select status from users where id = $1', user?.id);
    // Whichever came first, nobody who is closed has one that was founded afterwards.
    expect([now?.status, founded.length]).toEqual(['closed', 0]);
  });
});

async function invitationOf(owner: Person, email: string): Promise<string> {
  const path = `/dashboard/organizations/${owner.organizationId}/invitations`;
  expect((await owner.post(path, { email, role: 'viewer' })).status).toBe(200);
  await settled(product);
  const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body
    .data;
  return /\?token=([\w-]+)/.exec(mails[0].body)?.[1] ?? '';
}

/** What people do for an organization, whose row each of them waits for. */
const ofOrganizations: Record<
  string,
  (asked: { owner: Person; at: string; member: Person; serviceId: number }) => Promise<Response>
> = {
  checkout: ({ owner }) =>
    owner.post('/cart/checkout/invoice', {
      products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }],
    }),
  topUpCredit: ({ owner }) => owner.post('/dashboard/credit/top-up', { amount: '20.00' }),
  upgradeVps: ({ owner, serviceId }) =>
    owner.post(`/dashboard/services/${serviceId}/upgrade-vps`, { option1: 2 }),
  updateOrganization: ({ owner, at }) => owner.patch(at, { name: 'Another name' }),
  createInvitation: ({ owner, at }) =>
    owner.post(`${at}/invitations`, { email: 'guest@example.com', role: 'viewer' }),
  updateMember: ({ owner, at, member }) => owner.patch(`${at}/members/${member.userId}`, { role: 'admin' }),
  createWebhook: ({ owner }) => owner.post('/dashboard/webhooks', { url: 'https://hooks.example.com/x' }),
};

describe('an organization that is closed or blocked meanwhile', () => {
  it.each(
    Object.keys(ofOrganizations).flatMap((name) => [
      [name, 'closed', '403 forbidden'] as const,
      [name, 'blocked', '403 organization_blocked'] as const,
    ]),
  )('has nothing more: %s (%s)', async (name, status, wanted) => {
    const owner = await newCustomer(product, { creditMinor: 50_000 });
    const member = await newMember(product, owner.organizationId, 'viewer');
    const { serviceId } = name === 'upgradeVps' ? await runningVps(product, owner) : { serviceId: 0 };
    const at = `/dashboard/organizations/${owner.organizationId}`;
    const ask = ofOrganizations[name];
    if (ask === undefined) throw new Error(name);
    const came = await meanwhile('organizations', owner.organizationId, status, () =>
      ask({ owner, at, member, serviceId }),
    );
    expect(came).toBe(wanted);
  });

  it.each([
    ['closed', '403 forbidden'],
    ['blocked', '403 organization_blocked'],
  ])('takes nobody in (%s)', async (status, wanted) => {
    const [owner, guest] = [await newCustomer(product), await newCustomer(product)];
    const token = await invitationOf(owner, guest.email);
    const accept = () => guest.post('/dashboard/invitations/accept', { token });
    expect(await meanwhile('organizations', owner.organizationId, status, accept)).toBe(wanted);
  });
});
