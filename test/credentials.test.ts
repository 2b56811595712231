/**
 * What no credential opens, at any endpoint there is: those that have ended, halves, tokens of another kind, and those
 * that are kept to less. The cases are made from the list of routes; the database is compared once for each kind.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../src/account/index.ts';
import { allRoutes } from '../src/api.ts';
import { permissionNames, permissionsOf } from '../src/organizations/index.ts';
import { bytesOf } from '../src/platform/http/bytes.ts';
import { listRoutes, type Route } from '../src/platform/http/index.ts';
import { newId, transaction } from '../src/platform/index.ts';
import { runningVps } from './orders.ts';
import { newDevice } from './passkeys.ts';
import {
  newCustomer,
  newMember,
  newStaff,
  type Person,
  type SignedIn,
  sessionOf,
  signedIn,
  staffHere,
} from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { bodyFor } from './samples.ts';
import { contents, settled, sql } from './sql.ts';

const routes = listRoutes(allRoutes);
const guarded = routes.filter((route) => route.auth !== 'public');

let product: TestProduct;
let owner: Person;
let service: number;
beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 50_000 });
  service = (await runningVps(product, owner)).serviceId;
});
afterAll(() => product.stop());

type Headers = Record<string, string>;

const nameOf = (route: Route) => `${route.method} ${route.path}`;
const pathOf = (route: Route) => route.path.replaceAll(/:(\w+)/g, '1');
const longAgo = () => new Date(product.clock.now().getTime() - 400 * 86_400_000);

/** Sends each route what it takes, a few at once. Resolves to what came, by the route's name. */
async function sendAll(
  to: readonly Route[],
  headers: Headers,
  body: (route: Route) => unknown = (route) => (route.method === 'GET' ? undefined : bodyFor(route)),
): Promise<Record<string, string>> {
  const left = [...to];
  const came: Record<string, string> = {};
  const sender = async () => {
    for (let route = left.pop(); route !== undefined; route = left.pop()) {
      const { status, body: said } = await product.nobody.request(
        route.method,
        pathOf(route),
        body(route),
        headers,
      );
      came[nameOf(route)] = `${status} ${said?.code ?? ''}`.trim();
    }
  };
  await Promise.all([sender(), sender(), sender(), sender()]);
  return came;
}

/** Those to which something else came. */
function butFor(came: Record<string, string>, wanted: (route: Route) => string | readonly string[]) {
  return Object.fromEntries(
    guardedAnd(Object.keys(came))
      .map((route) => [nameOf(route), came[nameOf(route)] ?? ''] as const)
      .filter(([name, answer]) => ![wanted(routeOf(name))].flat().includes(answer)),
  );
}
const byName = new Map(routes.map((route) => [nameOf(route), route]));
function routeOf(name: string): Route {
  const route = byName.get(name);
  if (route === undefined) throw new Error(`there is no ${name}`);
  return route;
}
const guardedAnd = (names: string[]) => names.map(routeOf);

/** Nothing is changed by what is done; what was under way is waited for. */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  await settled(product);
  const before = await contents(product);
  const done = await work();
  await settled(product);
  const after = await contents(product);
  // What is other now, and not all that is the same.
  const others = Object.keys(after).flatMap((table) => {
    const [was, is] = [before[table] ?? [], after[table] ?? []];
    const [wasThere, isThere] = [new Set(was), new Set(is)];
    return [
      ...was.filter((row) => !isThere.has(row)).map((row) => `- ${table} ${row}`),
      ...is.filter((row) => !wasThere.has(row)).map((row) => `+ ${table} ${row}`),
    ];
  });
  expect(others).toEqual([]);
  return done;
}

const inOrganization = () => ({ 'x-organization-id': String(owner.organizationId) });

/** Somebody who may do all that a key or a session may. */
async function admin() {
  const person = await newMember(product, owner.organizationId, 'admin');
  return { ...person, here: () => signedIn(product, person) };
}

async function keyOf(userId: number, change: string, ...values: unknown[]): Promise<Headers> {
  const { id, key } = await transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, userId, 'Kept'));
  await sql(product, `update api_keys set ${change} where id = $1`, id, ...values);
  return { token: key };
}

async function sessionThat(change: string, ...values: unknown[]): Promise<Headers> {
  const { sessionId, token } = await (await admin()).here();
  await sql(product, `update sessions set ${change} where id = $1`, sessionId, ...values);
  return { token };
}

/** The cookie of a session, sent as our own page does. */
const asCookie = (token: string): Headers => ({
  cookie: `__Host-innkeeper=${token}`,
  origin: product.url,
});

async function mailTo(email: string, page: string): Promise<string> {
  await settled(product);
  const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body
    .data;
  const found = mails.map(
    (mail: { body: string }) => new RegExp(`${page}\\?token=([\\w-]+)`).exec(mail.body)?.[1],
  );
  const token = found.find((each: string | undefined) => each !== undefined);
  if (token === undefined) throw new Error(`no mail to ${email} has a link to ${page}`);
  return token;
}

async function impersonating(staff: SignedIn, person: Person): Promise<{ id: number; token: string }> {
  const wish = { reason: 'Ticket a1b2c3d4', read_only: false };
  const { impersonation, token } = (await staff.post(`/staff/users/${person.userId}/impersonate`, wish)).body
    .data;
  return { id: impersonation.id, token };
}

/** Everything that looks like a credential and is none, or none any more. */
const nothings: [string, () => Promise<Headers>][] = [
  ['a key that was revoked', () => keyOf(owner.userId, 'revoked_at = now()')],
  ['a key that has expired', () => keyOf(owner.userId, 'expires_at = $2', longAgo())],
  [
    'a key of another IPv4 network',
    () => keyOf(owner.userId, `ip_allowlist = '{192.0.2.0/24,2001:db8::/32}'`),
  ],
  ['a test key that was revoked', () => keyOf(owner.userId, 'test = true, revoked_at = now()')],
  [
    'a key of somebody blocked',
    async () => {
      const person = await admin();
      await sql(product, `update users set status = 'blocked' where id = $1`, person.userId);
      return { token: person.key };
    },
  ],
  [
    'a key of staff that is blocked',
    async () => {
      const person = await newStaff(product, 'administrator');
      await sql(product, `update users set status = 'blocked' where id = $1`, person.userId);
      return { token: person.key };
    },
  ],
  ['a session that is idle', () => sessionThat('last_seen_at = $2', longAgo())],
  ['a session that is too old', () => sessionThat('expires_at = $2', longAgo())],
  [
    'a session that signed out',
    async () => {
      const session = await (await admin()).here();
      expect((await session.post('/auth/logout')).status).toBe(200);
      return asCookie(session.token);
    },
  ],
  [
    'a session from before the password was changed',
    async () => {
      const person = await admin();
      const [before, here] = [await person.here(), await person.here()];
      const change = { current_password: person.password, password: 'nine herons fold linen' };
      expect((await here.patch('/dashboard/account', change, inOrganization())).status).toBe(200);
      return asCookie(before.token);
    },
  ],
  [
    'the token that a session had before it proved itself again',
    async () => {
      const person = await admin();
      const session = await person.here();
      expect((await session.post('/auth/reauthenticate', { password: person.password })).status).toBe(200);
      return { token: session.token };
    },
  ],
  [
    'half a session',
    async () => {
      const { email, password, here } = await admin();
      const session = await here();
      const device = newDevice(product);
      const asked = await session.post('/dashboard/account/passkeys/options', {}, inOrganization());
      const credential = device.make(asked.body.data.options);
      const added = await session.post(
        '/dashboard/account/passkeys/verify',
        { credential },
        inOrganization(),
      );
      expect(added.status, JSON.stringify(added.body)).toBe(200);
      const answer = await product.nobody.post('/auth/login', { email, password });
      expect(answer.body.data.second_factor_required).toBe(true);
      return asCookie((await sessionOf(product, answer)).token);
    },
  ],
  [
    'half a session of staff',
    async () => {
      const { sessionId, token } = await staffHere(product, 'administrator');
      await sql(product, 'update sessions set half = true where id = $1', sessionId);
      return { token };
    },
  ],
  [
    'an impersonation that was ended',
    async () => {
      const staff = await staffHere(product, 'support');
      const { id, token } = await impersonating(staff, owner);
      expect((await staff.post(`/staff/impersonations/${id}/end`)).status).toBe(200);
      return { token };
    },
  ],
  [
    'an impersonation whose time is over',
    async () => {
      const { id, token } = await impersonating(await staffHere(product, 'support'), owner);
      await sql(product, 'update impersonations set expires_at = $2 where id = $1', id, longAgo());
      return { token };
    },
  ],
  [
    'an impersonation by staff that signed out since',
    async () => {
      const staff = await staffHere(product, 'support');
      const { token } = await impersonating(staff, owner);
      expect((await staff.post('/auth/logout')).status).toBe(200);
      return { token };
    },
  ],
  [
    'the token by which a browser is known',
    async () => {
      const { cookie } = await (await admin()).here();
      return { token: /device=([\w-]+)/.exec(cookie)?.[1] ?? '' };
    },
  ],
  [
    'the token of a mail that sets a password',
    async () => {
      const { email } = await admin();
      await product.nobody.post('/auth/password/forgot', { email });
      return { token: await mailTo(email, '/reset-password') };
    },
  ],
  [
    'the token of an invitation',
    async () => {
      const email = `guest${newId()}@example.com`;
      await owner.post(`/dashboard/organizations/${owner.organizationId}/invitations`, {
        email,
        role: 'admin',
      });
      return { token: await mailTo(email, '/invitation') };
    },
  ],
  [
    'the ticket of a console',
    async () => {
      const { wss_url } = (await owner.get(`/dashboard/service/${service}/vps/console`)).body.data;
      return { token: new URL(wss_url).pathname.split('/').at(-1) ?? '' };
    },
  ],
];

describe('what is no credential, or none any more', () => {
  it.each(nothings)('%s opens nothing, and changes nothing', async (_, make) => {
    const headers = { ...inOrganization(), ...(await make()) };
    const asking = routes.filter((route) => route.auth !== 'public' || route.caller === 'when-given');
    const came = await unchanged(() => sendAll(asking, headers));
    const refusal = (route: Route) => `401 ${route.unauthorized ?? 'unauthorized'}`;
    expect(butFor(came, refusal)).toEqual({});
  });
});

describe('who lacks', () => {
  const ofOrganizations = guarded.filter((route) => route.auth === 'organization');
  const ofStaff = guarded.filter((route) => route.auth === 'staff');
  const aboutOrganizations = ofOrganizations.filter((route) => route.organization !== 'of-members');

  it('membership is refused at every endpoint of an organization, with a key and signed in, and changes nothing', async () => {
    const stranger = await newCustomer(product);
    const { token } = await signedIn(product, stranger);
    for (const credential of [{ token: stranger.key }, asCookie(token)]) {
      const came = await unchanged(() => sendAll(ofOrganizations, { ...inOrganization(), ...credential }));
      expect(butFor(came, () => '403 forbidden')).toEqual({});
    }
  });

  it('the second factor that an organization wants is refused at all that is about it, and changes nothing', async () => {
    const member = await admin();
    const { token } = await member.here();
    const wanted = (is: boolean) =>
      sql(product, 'update organizations set require_2fa = $2 where id = $1', owner.organizationId, is);
    await wanted(true);
    for (const credential of [{ token: member.key }, asCookie(token)]) {
      const came = await unchanged(() => sendAll(aboutOrganizations, { ...inOrganization(), ...credential }));
      expect(butFor(came, () => '403 second_factor_required')).toEqual({});
    }
    await wanted(false);
  });

  it('a second factor is refused at every endpoint of staff, whatever role it has, and changes nothing', async () => {
    const { token } = await signedIn(product, await newStaff(product, 'administrator'));
    const came = await unchanged(() => sendAll(ofStaff, asCookie(token)));
    expect(butFor(came, () => '403 second_factor_required')).toEqual({});
  });

  it('a proof of the last ten minutes is refused where it is asked for, and changes nothing', async () => {
    const old = async (session: SignedIn) => {
      await sql(product, 'update sessions set proven_at = $2 where id = $1', session.sessionId, longAgo());
      return { ...inOrganization(), ...asCookie(session.token) };
    };
    const fresh = (auth: Route['auth']) => guarded.filter((route) => route.fresh && route.auth === auth);
    const [member, staff] = [
      await old(await (await admin()).here()),
      await old(await staffHere(product, 'administrator')),
    ];
    for (const [headers, to] of [
      [member, fresh('organization')],
      [staff, fresh('staff')],
    ] as const) {
      const came = await unchanged(() => sendAll(to, headers));
      expect(butFor(came, () => '403 reauthentication_required')).toEqual({});
      expect(to).not.toEqual([]);
    }
  });

  it.each(permissionNames())(
    'the scope %s is refused what belongs to it, and changes nothing',
    async (scope) => {
      const rest = permissionNames().filter((name) => name !== scope);
      const to = ofOrganizations.filter((route) => route.permission === scope);
      const headers = { ...inOrganization(), ...(await keyOf(owner.userId, 'scopes = $2', rest)) };
      expect(permissionsOf('owner')).toContain(scope);
      const came = await unchanged(() => sendAll(to, headers));
      expect(butFor(came, () => '403 permission_denied')).toEqual({});
    },
  );

  it('every scope, area, or organization may read of its person alone, and changes nothing', async () => {
    const refusals = ['403 permission_denied', '403 session_required'];
    const asked = guarded.filter((route) => route.auth !== 'staff');
    const isPersonal = ({ permission }: Route) => permission === undefined;
    const forAll = permissionsOf('owner', { billing: false, shield: false, vps: false });
    const cases: [string, number[], (route: Route) => boolean][] = [
      [`scopes = '{nothing}'`, [], () => true],
      // Some permissions are for every key.
      [
        'billing = false, shield = false, vps = false',
        [],
        (route) => isPersonal(route) || ![...forAll].some((name) => name === route.permission),
      ],
      // A key for one organization may do there what its person may; but not what is the person's.
      ['organization_ids = array[$2::bigint]', [owner.organizationId], isPersonal],
    ];
    for (const [kept, values, isAsked] of cases) {
      const key = await keyOf(owner.userId, kept, ...values);
      const to = asked.filter(isAsked);
      const came = await unchanged(() => sendAll(to, { ...inOrganization(), ...key }));
      expect(Object.keys(butFor(came, () => refusals)).toSorted()).toEqual([
        'GET /dashboard/account',
        'GET /dashboard/account/api-keys',
        'GET /dashboard/account/api-keys/:id',
        'GET /dashboard/account/passkeys',
        'GET /dashboard/account/passkeys/:id',
        'GET /dashboard/account/sessions',
        'GET /dashboard/account/sessions/:id',
        'GET /dashboard/account/sign-ins',
        'GET /dashboard/account/ssh-keys',
        'GET /dashboard/account/ssh-keys/:id',
        'GET /dashboard/organizations',
        'GET /dashboard/organizations/:id',
      ]);
    }
  });

  it('scopes, areas or organizations of staff is refused all that belongs to one, and changes nothing', async () => {
    const { userId } = await newStaff(product, 'administrator');
    for (const kept of [
      `scopes = '{nothing}'`,
      `scopes = '{vps.manage}'`,
      `organization_ids = '{1}'`,
      'billing = false, shield = false, vps = false',
    ]) {
      const key = await keyOf(userId, kept);
      const came = await unchanged(() =>
        sendAll(
          ofStaff.filter((route) => route.area !== 'any'),
          key,
        ),
      );
      expect(butFor(came, () => ['403 permission_denied', '403 session_required'])).toEqual({});
    }
  });
});

describe('a body', () => {
  /** What somebody would like to be set beside what may be. */
  const wishes: Record<string, unknown> = {
    ...{
      role: 'owner',
      staff_role: 'administrator',
      staffRole: 'administrator',
      permissions: ['vps.manage'],
    },
    ...{ credit: '1000.00', balance: '1000.00', total: '0.00', price: '0.00', status: 'active', paid: true },
    ...{ id: 1, user_id: 1, userId: 1, organization_id: 1, organizationId: 1, owner_id: 1, api_key_id: 1 },
    ...{ email_verified: true, strong: true, half: false, proven_at: '2099-01-01T00:00:00Z', test: false },
  };
  const withJson = routes.filter((route) => route.method !== 'GET' && bytesOf(route.body) === null);

  async function headersFor() {
    const here = { ...inOrganization(), ...asCookie((await signedIn(product, owner)).token) };
    const staff = asCookie((await staffHere(product, 'administrator')).token);
    return (route: Route): Headers => (route.auth === 'public' ? {} : route.auth === 'staff' ? staff : here);
  }

  it('with a field that an endpoint does not know is refused, whatever it names, and changes nothing', async () => {
    const headers = await headersFor();
    const known = (route: Route) => Object.keys((route.body as { properties?: object }).properties ?? {});
    const wrong: string[] = [];
    await unchanged(async () => {
      for (const route of withJson) {
        const more = Object.fromEntries(
          Object.entries(wishes).filter(([name]) => !known(route).includes(name)),
        );
        const body = { ...(bodyFor(route) as object), ...more };
        const { status, body: said } = await product.nobody.request(
          route.method,
          pathOf(route),
          body,
          headers(route),
        );
        const named = (said.details ?? []).map(({ field }: { field: string }) => field);
        if (status !== 400 || !Object.keys(more).every((name) => named.includes(name)))
          wrong.push(`${nameOf(route)}: ${status} ${said.code} ${named}`);
      }
    });
    expect(wrong).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'with %s is refused, and changes nothing',
    async (name) => {
      const headers = await headersFor();
      const wrong: string[] = [];
      await unchanged(async () => {
        for (const route of withJson) {
          const text = JSON.stringify(bodyFor(route) ?? {});
          const body = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"${name}":{"staff_role":"administrator","role":"owner"}}`;
          const { status, body: said } = await product.nobody.request(route.method, pathOf(route), body, {
            ...headers(route),
            'content-type': 'application/json',
          });
          if (status !== 400) wrong.push(`${nameOf(route)}: ${status} ${said.code}`);
        }
      });
      expect(wrong).toEqual([]);
      expect(({} as { role?: unknown }).role).toBeUndefined();
    },
  );
});
