import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type Client } from '../../../test/client.ts';
import { watchChanges } from '../../../test/noted.ts';
import {
  newCustomer,
  newMember,
  newStaff,
  type Person,
  type SignedIn,
  staffHere,
} from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { allRoutes } from '../../api.ts';
import { listRoutes } from '../../platform/http/index.ts';

const changes = watchChanges();

let product: TestProduct;
let support: SignedIn & { userId: number; email: string };
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  support = await staffHere(product, 'support');
  customer = await newCustomer(product);
});
afterAll(() => product.stop());

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const reason = 'Ticket a1b2c3d4';

async function act(body: object = {}, as: Person = customer) {
  const answer = await support.post(`/staff/users/${as.userId}/impersonate`, { reason, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { impersonation, token } = answer.body.data;
  const client: Client = apiClient(`${product.url}/api`, { token, organizationId: as.organizationId });
  return { ...client, id: Number(impersonation.id), impersonation, token };
}

describe('staff that acts as a customer', () => {
  it('reads what the customer reads, is marked in every answer, and is told of', async () => {
    const here = await act();
    const account = await here.get('/dashboard/account');
    expect(account.body.data.user.email).toBe(customer.email);
    expect([account.body.data.apikeys, account.body.data.passkeys]).toEqual([[], []]);
    expect(account.headers.get('x-impersonation')).toBe(
      `staff=${support.userId}; until=${here.impersonation.expires_at}; read-only`,
    );
    expect((await here.get('/dashboard/invoices')).status).toBe(200);
    expect((await customer.get('/dashboard/account')).headers.get('x-impersonation')).toBeNull();
    await settled(product);
    const told = await sql<{ action: string; actor_type: string; user_id: number; data: { reason: string } }>(
      product,
      `select action, actor_type, user_id, data from journal where organization_id = $1 order by id desc limit 1`,
      customer.organizationId,
    );
    expect(told).toMatchObject([{ action: 'impersonation.started', actor_type: 'staff', data: { reason } }]);
    expect(Number(told[0]?.user_id)).toBe(support.userId);
    const mails = await sql<{ body: string }>(
      product,
      `select body from mails where recipient = $1 and template = 'impersonation.started'`,
      customer.email,
    );
    expect(mails[0]?.body).toContain(reason);
    expect(JSON.stringify(await contents(product))).not.toContain(here.token);
  });

  it('changes nothing and reaches nothing that is the customer’s alone, at any endpoint there is', async () => {
    const [reading, changing] = [await act(), await act({ read_only: false })];
    await settled(product);
    const before = await contents(product);
    const personal: string[] = [];
    for (const route of listRoutes(allRoutes)) {
      if (route.auth === 'public') continue;
      const path = route.path.replaceAll(/:\w+/g, '4242');
      const name = `${route.method} ${route.path}`;
      const body = route.method === 'GET' ? undefined : { nonsense: true };
      const answer = await reading.request(route.method, path, body);
      expect(answer.headers.get('x-impersonation'), name).toContain('read-only');
      if (route.auth === 'staff') expect([name, ...face(answer)]).toEqual([name, 403, 'staff_only']);
      else if (route.method !== 'GET')
        expect([name, ...face(answer)]).toEqual([name, 403, 'impersonation_refused']);
      const isPersonal =
        answer.body.code === 'impersonation_refused' &&
        (await changing.request(route.method, path, body)).body.code === 'impersonation_refused';
      if (isPersonal) personal.push(name);
    }
    expect(await contents(product)).toEqual(before);
    const reached = listRoutes(allRoutes)
      .filter((route) => route.auth !== 'public' && route.auth !== 'staff')
      .map((route) => `${route.method} ${route.path}`)
      .filter((name) => !personal.includes(name));
    // Whatever is named like this is the customer's alone, also when it is new.
    const secret = /password|2fa|passkey|keys|sessions|console|reauthenticate|preferences|account\/export/;
    expect(reached.filter((name) => secret.test(name))).toEqual([]);
    expect(personal).toContain('POST /cart/checkout/invoice');
    // What spends the customer's money, and what ends what they own for good.
    for (const path of ['invoices/:id/pay', 'payment-methods', 'credit/top-up', 'services/:id/cancel'])
      expect(personal).toContain(`POST /dashboard/${path}`);
    expect(personal).toContain('DELETE /dashboard/payment-methods/:id');
    expect(personal).toContain('GET /dashboard/service/:id/vps/console');
    expect(personal).toContain('GET /dashboard/service/:id/vps/screen');
    expect(personal).toContain('PATCH /dashboard/account');
    expect(personal).toContain('POST /dashboard/organizations/:id/invitations');
    expect(personal).toContain('PATCH /dashboard/organizations/:id/members/:user_id');
  });

  it('changes when asked to, and the journal names who did it', async () => {
    const here = await act({ read_only: false });
    const changed = await here.patch('/dashboard/billing/profile', { city: 'Graz' });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(changed.headers.get('x-impersonation')).toContain('may-change');
    const [entry] = await sql<{ actor_type: string; user_id: number }>(
      product,
      `select actor_type, user_id from journal where organization_id = $1 order by id desc limit 1`,
      customer.organizationId,
    );
    expect([entry?.actor_type, Number(entry?.user_id)]).toEqual(['staff', support.userId]);
  });

  it('is over after thirty minutes, however it is used, and at once when it is ended', async () => {
    const [timed, ended] = [await act(), await act()];
    const after = await support.post(`/staff/impersonations/${ended.id}/end`);
    expect(after.body.data.impersonation.ended_at).not.toBeNull();
    expect((await ended.get('/dashboard/account')).status).toBe(401);
    expect(face(await support.post(`/staff/impersonations/${ended.id}/end`))).toEqual([409, 'conflict']);
    product.clock.travel(29 * 60_000);
    expect((await timed.get('/dashboard/account')).status).toBe(200);
    product.clock.travel(60_000);
    expect((await timed.get('/dashboard/account')).status).toBe(401);
    support = await staffHere(product, 'support');
    const { impersonations } = (await support.get(`/staff/impersonations?user_id=${customer.userId}`)).body
      .data;
    expect(impersonations.map((each: { id: number }) => each.id)).toEqual(
      expect.arrayContaining([timed.id, ended.id]),
    );
    expect(JSON.stringify(impersonations)).not.toContain('ini_');
  });

  it('is over when staff or the customer is blocked, and when staff is lowered', async () => {
    const person = await newCustomer(product);
    const here = await act({}, person);
    for (const [set, back] of [
      [
        `update users set staff_role = 'billing' where id = $1`,
        `update users set staff_role = 'support' where id = $1`,
      ],
      [
        `update users set status = 'blocked' where id = $1`,
        `update users set status = 'active' where id = $1`,
      ],
    ]) {
      await sql(product, set ?? '', support.userId);
      product.clock.travel(1_001);
      expect((await here.get('/dashboard/account')).status).toBe(401);
      await sql(product, back ?? '', support.userId);
      product.clock.travel(1_001);
      expect((await here.get('/dashboard/account')).status).toBe(200);
    }
    await sql(product, `update users set status = 'blocked' where id = $1`, person.userId);
    product.clock.travel(1_001);
    expect((await here.get('/dashboard/account')).status).toBe(401);
  });

  it('reaches the one organization it is for', async () => {
    const other = await newCustomer(product);
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', $3)`,
      ...[other.organizationId, customer.userId, product.clock.now()],
    );
    const here = await act();
    const foreign = { 'x-organization-id': String(other.organizationId) };
    expect(face(await here.get('/dashboard/invoices', foreign))).toEqual([403, 'forbidden']);
    const there = await act({ organization_id: other.organizationId });
    expect((await there.get('/dashboard/invoices', foreign)).status).toBe(200);
    const idsIn = async (who: Client) =>
      (await who.get('/dashboard/organizations')).body.data.organizations.map(({ id }: { id: number }) => id);
    expect(await idsIn(customer)).toEqual([customer.organizationId, other.organizationId]);
    expect([await idsIn(here), await idsIn(there)]).toEqual([
      [customer.organizationId],
      [other.organizationId],
    ]);
    expect(face(await there.get('/dashboard/invoices'))).toEqual([403, 'forbidden']);
  });

  it('does no more than the customer’s role allows', async () => {
    const viewer = await newMember(product, customer.organizationId, 'viewer');
    const here = await act({ read_only: false }, viewer);
    expect(face(await here.get('/dashboard/invoices'))).toEqual([403, 'permission_denied']);
  });
});

describe('the audit', () => {
  it('shows administrators all that somebody of staff did, and what was done to one thing', async () => {
    const admin = await newStaff(product, 'administrator');
    await act();
    const find = async (query: string) => {
      const { status, body } = await admin.get(`/staff/audit?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.data.audit_entries as { action: string; subject: object; actor: object; data: object }[];
    };
    const mine = await find(`staff_id=${support.userId}&limit=1`);
    expect(mine).toMatchObject([
      {
        action: 'impersonation.started',
        organization_id: customer.organizationId,
        subject: { type: 'user', id: customer.userId },
        actor: { type: 'staff', user_id: support.userId, email: support.email },
        data: { reason },
      },
    ]);
    expect(await find(`subject_type=user&subject_id=${customer.userId}&limit=1`)).toEqual(mine);
    expect((await find(`organization_id=${customer.organizationId}&limit=1`))[0]).toBeDefined();
    expect(face(await admin.get('/staff/audit?subject_type=user'))).toEqual([400, 'invalid_request']);
    expect(face(await support.get('/staff/audit'))).toEqual([403, 'permission_denied']);
  });
});

describe('nobody acts', () => {
  it('as somebody of staff, as who is blocked, in an organization that is not theirs, or without a reason', async () => {
    const admin = await newStaff(product, 'administrator');
    const blocked = await newCustomer(product);
    await sql(product, `update users set status = 'blocked' where id = $1`, blocked.userId);
    const wish = (id: number, body: object) => support.post(`/staff/users/${id}/impersonate`, body);
    expect(face(await wish(admin.userId, { reason }))).toEqual([409, 'staff_account']);
    expect(face(await wish(blocked.userId, { reason }))).toEqual([409, 'conflict']);
    expect(face(await wish(customer.userId, {}))).toEqual([400, 'invalid_request']);
    expect(face(await wish(customer.userId, { reason, organization_id: blocked.organizationId }))).toEqual([
      ...[400, 'invalid_request'],
    ]);
    expect(face(await wish(4242, { reason }))).toEqual([404, 'not_found']);
  });

  it('with a key, or after ten minutes without proving who they are', async () => {
    const path = `/staff/users/${customer.userId}/impersonate`;
    expect(face(await product.staff.post(path, { reason }))).toEqual([403, 'session_required']);
    product.clock.travel(10 * 60_000);
    expect(face(await support.post(path, { reason }))).toEqual([403, 'reauthentication_required']);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['impersonateUser', 'endImpersonation']));
