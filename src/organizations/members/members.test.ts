import http from 'node:http';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { plantPasskey } from '../../../test/passkeys.ts';
import { newCustomer, newMember, type Person, sessionOf, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type Role, roles } from '../index.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const at = (person: { organizationId: number }, rest = '') =>
  `/dashboard/organizations/${person.organizationId}${rest}`;
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

/** An organization with its owner, signed in lately, and somebody of each other role. */
async function company() {
  const owner = await newCustomer(product);
  const session = await signedIn(product, owner);
  const people = {} as Record<Role, Person>;
  for (const role of roles)
    people[role] = role === 'owner' ? owner : await newMember(product, owner.organizationId, role);
  return { owner, session, people };
}

async function rolesIn(organizationId: number): Promise<Record<number, Role>> {
  const rows = await sql<{ user_id: number; role: Role }>(
    product,
    'select user_id, role from memberships where organization_id = $1',
    organizationId,
  );
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
}

async function mailTo(email: string, template: string): Promise<string | undefined> {
  await settled(product);
  const [mail] = await sql<{ body: string }>(
    product,
    'select body from mails where recipient = $1 and template = $2 order by id desc',
    ...[email, template],
  );
  return mail?.body;
}

describe('the list of members', () => {
  it('tells what each role may do, which is what members of it may', async () => {
    const { owner, people } = await company();
    const { roles: told } = (await owner.get(at(owner, '/members'))).body.data;
    expect(told.map(({ role }: { role: Role }) => role)).toEqual(roles);
    for (const { role, permissions } of told) {
      const { organization } = (await people[role as Role].get(at(owner))).body.data;
      expect([...organization.permissions].sort()).toEqual(permissions);
    }
  });
});

describe('an organization', () => {
  it('tells its members what they may do in it', async () => {
    const { people } = await company();
    const seen = async (role: Role) => {
      const { organization } = (await people[role].get(at(people[role]))).body.data;
      const listed = (await people[role].get('/dashboard/organizations')).body.data.organizations;
      expect(listed).toEqual([organization]);
      return organization;
    };
    expect(await seen('viewer')).toMatchObject({
      ...{ role: 'viewer', members_count: 6, require_2fa: false },
      permissions: [
        'dedicated.read',
        'members.read',
        'service.read',
        'shield.read',
        'ticket.read',
        'vps.read',
      ],
    });
    expect((await seen('owner')).permissions).toContain('members.manage');
  });

  it('tells a key that is kept to an area no more than the key may do', async () => {
    const owner = await newCustomer(product);
    await sql(
      product,
      'update api_keys set billing = false, shield = false where user_id = $1',
      owner.userId,
    );
    const { organizations } = (await owner.get('/dashboard/organizations')).body.data;
    const ofMachines = [
      ...['dedicated.manage', 'dedicated.power', 'dedicated.read'],
      ...['service.manage', 'service.read', 'vps.manage', 'vps.power', 'vps.read'],
    ];
    expect(organizations[0].permissions).toEqual(ofMachines);
  });

  it('is renamed by who manages it, and what is no name or no field of it changes nothing', async () => {
    const { people } = await company();
    const named = await people.admin.patch(at(people.admin), { name: 'Another name' });
    expect(named.body.data.organization).toMatchObject({ name: 'Another name', role: 'admin' });
    await settled(product);
    const before = await contents(product);
    for (const wrong of [
      ...[{ name: ' ' }, { name: '' }, { name: 5 }, { name: null }, { name: 'x'.repeat(101) }],
      ...[{ role: 'owner' }, { credit: '100.00' }, { id: 1 }, { owner_id: 1 }, { members_count: 0 }],
      ...['{"__proto__":{"role":"owner"}}', '{"constructor":{}}', '{"name":"a","name":"b"}'],
    ])
      expect((await people.owner.patch(at(people.owner), wrong)).status, JSON.stringify(wrong)).toBe(400);
    expect((await people.owner.patch(at(people.owner), { name: 'Another name' })).status).toBe(200);
    for (const role of ['billing', 'technical', 'support', 'viewer'] as const)
      expect(face(await people[role].patch(at(people[role]), { name: 'x' }))).toEqual([
        ...[403, 'permission_denied'],
      ]);
    expect(await contents(product)).toEqual(before);
  });

  it('is not reached by a path while the header names another one', async () => {
    const owner = await newCustomer(product);
    const { organization } = (await owner.post('/dashboard/organizations', { name: 'Second' })).body.data;
    const answer = await owner.get(`/dashboard/organizations/${organization.id}/members`);
    expect(face(answer)).toEqual([403, 'forbidden']);
    expect(answer.body.details[0].message).toBe('names another organization than the path');
  });
});

describe('the members', () => {
  it('are listed to every member, with what the list filters and sorts by', async () => {
    const { people } = await company();
    const { members, total } = (await people.viewer.get(at(people.viewer, '/members?sort=-joined_at'))).body
      .data;
    expect(total).toBe(6);
    expect(members.map((each: { role: Role }) => each.role).toSorted()).toEqual([...roles].toSorted());
    const [only] = (await people.viewer.get(at(people.viewer, '/members?role=support'))).body.data.members;
    expect(only).toMatchObject({
      user: { id: people.support.userId, email: people.support.email },
      ...{ role: 'support', status: 'active', two_factor: false },
    });
    const one = await people.viewer.get(at(people.viewer, `/members/${people.support.userId}`));
    expect(one.body.data.member.user).toEqual(only.user);
    const stranger = await newCustomer(product);
    const missing = await people.viewer.get(at(people.viewer, `/members/${stranger.userId}`));
    expect(face(missing)).toEqual([404, 'not_found']);
  });
});

/** Who may do what to whom: the words of the answer, for every role and every role it is done to. */
describe('a change of a member', () => {
  const others: Role[] = ['admin', 'billing', 'technical', 'support', 'viewer'];
  const mightier: Role[] = ['owner', 'admin'];

  it('is for owners and administrators, and about owners for owners', async () => {
    const { owner, people } = await company();
    const target = await newMember(product, owner.organizationId, 'viewer');
    const path = at(owner, `/members/${target.userId}`);
    // What is tried leaves the others as they were, so that each try begins alike.
    const become = (role: Role) =>
      sql(
        product,
        `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, $3, now())
         on conflict (organization_id, user_id) do update set role = excluded.role`,
        ...[owner.organizationId, target.userId, role],
      );
    const entries = async () =>
      (await sql<{ last: number }>(product, 'select max(id) as last from journal'))[0]?.last;
    const wrong: string[] = [];
    for (const mine of roles) {
      const caller = await signedIn(product, people[mine]);
      const before = await rolesIn(owner.organizationId);
      // The other roles rule over nobody, and are one like the other here.
      for (const theirs of ['owner', 'admin', 'viewer'] as const) {
        for (const wanted of ['owner', 'admin', 'support', null] as const) {
          await become(theirs);
          const last = await entries();
          const answer =
            wanted === null ? await caller.delete(path) : await caller.patch(path, { role: wanted });
          const isAboutOwners = (theirs === 'owner' || wanted === 'owner') && theirs !== wanted;
          const may = mightier.includes(mine) && (mine === 'owner' || !isAboutOwners);
          const { [target.userId]: now, ...rest } = await rolesIn(owner.organizationId);
          const { [target.userId]: _, ...were } = before;
          expect(rest).toEqual(were);
          const isTold = (await entries()) !== last;
          const seen = [answer.status, answer.body.code, now, isTold].join(' ');
          const expected = may
            ? [200, undefined, wanted ?? undefined, theirs !== wanted]
            : [403, 'permission_denied', theirs, false];
          if (seen !== expected.join(' ')) wrong.push(`${mine} makes ${theirs} ${wanted}: ${seen}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('lets everybody leave, and the last owner not', async () => {
    const { people } = await company();
    for (const role of others) {
      const { userId } = people[role];
      expect((await people[role].delete(at(people[role], `/members/${userId}`))).body.data).toEqual({
        removed: true,
      });
      expect(face(await people[role].get(at(people[role])))).toEqual([403, 'forbidden']);
    }
    await settled(product);
    const before = await contents(product);
    const { owner } = people;
    expect(face(await owner.delete(at(owner, `/members/${owner.userId}`)))).toEqual([409, 'last_owner']);
    expect(face(await owner.patch(at(owner, `/members/${owner.userId}`), { role: 'admin' }))).toEqual([
      ...[409, 'last_owner'],
    ]);
    expect(await contents(product)).toEqual(before);
  });

  it('does not let a key leave that is kept to an area', async () => {
    const owner = await newCustomer(product);
    const viewer = await newMember(product, owner.organizationId, 'viewer');
    await sql(product, 'update api_keys set billing = false where user_id = $1', viewer.userId);
    expect(face(await viewer.delete(at(viewer, `/members/${viewer.userId}`)))).toEqual([
      ...[403, 'permission_denied'],
    ]);
  });

  it('that is about another owner wants somebody who signed in lately', async () => {
    const { owner, session, people } = await company();
    const path = at(owner, `/members/${people.viewer.userId}`);
    const before = await rolesIn(owner.organizationId);
    expect(face(await owner.patch(path, { role: 'owner' }))).toEqual([403, 'session_required']);
    product.clock.travel(10 * 60_000);
    expect(face(await session.patch(path, { role: 'owner' }))).toEqual([403, 'reauthentication_required']);
    expect(await rolesIn(owner.organizationId)).toEqual(before);
    const fresh = await signedIn(product, owner);
    expect((await fresh.patch(path, { role: 'owner' })).body.data.member.role).toBe('owner');
    product.clock.travel(10 * 60_000);
    expect(face(await fresh.delete(path))).toEqual([403, 'reauthentication_required']);
    // Oneself one may lower at any time: that takes nothing from anybody.
    const own = at(owner, `/members/${owner.userId}`);
    expect((await owner.patch(own, { role: 'admin' })).body.data.member.role).toBe('admin');
    expect(face(await fresh.delete(path))).toEqual([409, 'last_owner']);
  });

  it('is told by mail, and stands in the journal', async () => {
    const { owner, people } = await company();
    await sql(
      product,
      'update organizations set name = $1 where id = $2',
      'Lines\nand more',
      owner.organizationId,
    );
    await owner.patch(at(owner, `/members/${people.viewer.userId}`), { role: 'support' });
    expect(await mailTo(people.viewer.email, 'member.role_changed')).toContain(
      'You were viewer of the organization "Lines and more", and are support now.',
    );
    await owner.delete(at(owner, `/members/${people.viewer.userId}`));
    expect(await mailTo(people.viewer.email, 'member.removed')).toContain('You were taken out of');
    await people.billing.delete(at(owner, `/members/${people.billing.userId}`));
    expect(await mailTo(people.billing.email, 'member.removed')).toContain('You left the organization');
    const entries = await sql(
      product,
      `select action, user_id, data->>'left' as left from journal where organization_id = $1
         and action like 'member.%' order by id`,
      owner.organizationId,
    );
    expect(entries).toEqual([
      { action: 'member.role_changed', user_id: owner.userId, left: null },
      { action: 'member.removed', user_id: owner.userId, left: 'false' },
      { action: 'member.removed', user_id: people.billing.userId, left: 'true' },
    ]);
  });

  it('that is none leaves no trace', async () => {
    const { owner, people } = await company();
    await settled(product);
    const before = await contents(product);
    const path = at(owner, `/members/${people.viewer.userId}`);
    expect((await owner.patch(path, { role: 'viewer' })).status).toBe(200);
    for (const body of [
      {},
      { role: 'king' },
      { role: null },
      { role: 'admin', staff_role: 'administrator' },
      '{"role":"admin","__proto__":{"role":"owner"}}',
    ])
      expect((await owner.patch(path, body)).status, JSON.stringify(body)).toBe(400);
    expect(await contents(product)).toEqual(before);
  });
});

describe('at once', () => {
  it('two owners leave, lower themselves or remove each other: one stays', async () => {
    for (const round of [0, 1, 2, 3, 4, 5]) {
      const owner = await newCustomer(product);
      const second = await newMember(product, owner.organizationId, 'owner');
      const pair = [await signedIn(product, owner), await signedIn(product, second)] as const;
      const ids = [owner.userId, second.userId];
      const answers = await Promise.all(
        pair.map((client, which) => {
          const own = at(owner, `/members/${ids[which]}`);
          const other = at(owner, `/members/${ids[1 - which]}`);
          if (round % 3 === 0) return client.delete(own);
          return round % 3 === 1 ? client.patch(own, { role: 'viewer' }) : client.delete(other);
        }),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length, `round ${round}: ${statuses}`).toBe(1);
      const left = Object.values(await rolesIn(owner.organizationId));
      expect(left.filter((role) => role === 'owner').length).toBe(1);
    }
  });

  it('a blocked owner counts as none', async () => {
    const owner = await newCustomer(product);
    const second = await newMember(product, owner.organizationId, 'owner');
    await sql(product, `update users set status = 'blocked' where id = $1`, second.userId);
    expect(face(await owner.delete(at(owner, `/members/${owner.userId}`)))).toEqual([409, 'last_owner']);
  });
});

describe('an organization that wants a second factor', () => {
  it('locks out whoever has none, names the page where they set one up, and lets them in with it', async () => {
    const { owner, people } = await company();
    await settled(product);
    const before = await contents(product);
    expect(face(await owner.patch(at(owner), { require_2fa: true }))).toEqual([409, 'second_factor_missing']);
    expect(await contents(product)).toEqual(before);
    await plantPasskey(product, owner.userId);
    const weak = await signedIn(product, people.admin);
    await plantPasskey(product, people.admin.userId);
    expect(face(await weak.patch(at(owner), { require_2fa: true }))).toEqual([409, 'second_factor_missing']);
    const { organization } = (await owner.patch(at(owner), { require_2fa: true })).body.data;
    expect(organization.require_2fa).toBe(true);

    const { viewer } = people;
    const session = await signedIn(product, viewer);
    for (const client of [viewer, session, weak]) {
      for (const path of [at(owner), at(owner, '/members'), '/dashboard/services', '/dashboard/invoices']) {
        const answer = await client.get(path);
        expect(face(answer), path).toEqual([403, 'second_factor_required']);
        expect(answer.body.message).toMatch(/https?:\/\/\S+\/account\/security/);
      }
    }
    expect((await owner.get(at(owner, '/members'))).status).toBe(200);
    const [listed] = (await viewer.get('/dashboard/organizations')).body.data.organizations;
    expect(listed).toMatchObject({ require_2fa: true, permissions: [] });
    expect((await viewer.get('/dashboard/account')).status).toBe(200);

    const setup = await session.post('/dashboard/account/2fa/setup');
    expect(setup.status, JSON.stringify(setup.body)).toBe(200);
    const { secret } = setup.body.data;
    const timestamp = product.clock.now().getTime();
    const code = TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp });
    const enabled = await session.post('/dashboard/account/2fa/enable', { code });
    const strong = await sessionOf(product, enabled, owner.organizationId);
    expect((await strong.get(at(owner))).body.data.organization.permissions).toContain('members.read');
    expect((await viewer.get(at(owner))).status).toBe(200);

    // Not whoever found a key, or a session that was left open.
    const open = { require_2fa: false };
    expect((await owner.patch(at(owner), open)).body.code).toBe('session_required');
    // As if with the passkey, whose assertion is no matter here.
    const provenSince = async (ago: string) => {
      const { sessionId, token } = await signedIn(product, owner);
      await sql(
        product,
        'update sessions set half = false, strong = true, proven_at = proven_at - $2::interval where id = $1',
        ...[sessionId, ago],
      );
      return { token, 'x-organization-id': String(owner.organizationId) };
    };
    const lower = async (ago: string) => product.nobody.patch(at(owner), open, await provenSince(ago));
    expect((await lower('11 minutes')).body.code).toBe('reauthentication_required');
    expect((await lower('1 minute')).status).toBe(200);
    expect((await people.billing.get(at(owner))).status).toBe(200);
  });
});

describe('handing over', () => {
  it('makes a member the owner in the place of who asks, after they proved who they are', async () => {
    const { owner, session, people } = await company();
    const wish = { user_id: people.technical.userId };
    const path = at(owner, '/hand-over');
    const before = await rolesIn(owner.organizationId);
    expect(face(await owner.post(path, wish))).toEqual([403, 'session_required']);
    const admin = await signedIn(product, people.admin);
    expect(face(await admin.post(path, wish))).toEqual([403, 'permission_denied']);
    expect(face(await session.post(path, { user_id: owner.userId }))).toEqual([409, 'conflict']);
    const stranger = await newCustomer(product);
    expect(face(await session.post(path, { user_id: stranger.userId }))).toEqual([404, 'not_found']);
    product.clock.travel(10 * 60_000);
    expect(face(await session.post(path, wish))).toEqual([403, 'reauthentication_required']);
    expect(await rolesIn(owner.organizationId)).toEqual(before);

    const fresh = await signedIn(product, owner);
    const answer = await fresh.post(path, wish);
    expect(answer.body.data.member).toMatchObject({ user: { id: wish.user_id }, role: 'owner' });
    const now = await rolesIn(owner.organizationId);
    expect([now[owner.userId], now[wish.user_id]]).toEqual(['admin', 'owner']);
    expect(face(await fresh.post(path, { user_id: people.admin.userId }))).toEqual([
      ...[403, 'permission_denied'],
    ]);
    expect(await mailTo(people.technical.email, 'member.role_changed')).toContain('are owner now');
    expect(await mailTo(owner.email, 'member.role_changed')).toContain('are administrator now');
  });

  it('to somebody who is blocked is refused: an organization keeps an owner who is let in', async () => {
    const { owner, session, people } = await company();
    await sql(product, `update users set status = 'blocked' where id = $1`, people.admin.userId);
    await settled(product);
    const before = await contents(product);
    const answer = await session.post(at(owner, '/hand-over'), { user_id: people.admin.userId });
    expect(face(answer)).toEqual([409, 'conflict']);
    expect(await contents(product)).toEqual(before);
  });

  it('to two members at once hands it to one', async () => {
    const { owner, session, people } = await company();
    const wishes = [people.technical.userId, people.viewer.userId];
    const answers = await Promise.all(
      wishes.map((user_id) => session.post(at(owner, '/hand-over'), { user_id })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
    const left = Object.values(await rolesIn(owner.organizationId));
    expect(left.filter((role) => role === 'owner').length).toBe(1);
  });
});

/** A request whose body is held back until it is sent: it was let in long before it does anything. */
async function withheld(who: Person, path: string, body: object): Promise<() => Promise<number | undefined>> {
  const text = JSON.stringify(body);
  const headers = {
    ...{ token: who.key, 'x-organization-id': String(who.organizationId) },
    ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  };
  const request = http.request(`${product.url}/api${path}`, { method: 'PATCH', headers });
  const answer = new Promise<number | undefined>((resolve, reject) => {
    request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  request.flushHeaders();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return () => {
    request.end(text);
    return answer;
  };
}

it('nobody who was lowered raises themselves again by a request that was let in before', async () => {
  const { owner, session, people } = await company();
  const path = at(owner, `/members/${people.admin.userId}`);
  const send = await withheld(people.admin, path, { role: 'admin' });
  expect((await session.patch(path, { role: 'viewer' })).status).toBe(200);
  expect(await send()).toBe(403);
  expect((await rolesIn(owner.organizationId))[people.admin.userId]).toBe('viewer');
});

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    ['updateOrganizationMember', 'removeOrganizationMember', 'handOverOrganization', 'updateOrganization'],
  ));
