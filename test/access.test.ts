/**
 * Who may do what, proved for every endpoint there is: the cases are made from the list of routes, so a new
 * endpoint is tested from its first day, and fails here until its resource is known.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Areas, areas, createApiKey, type NewApiKey } from '../src/account/index.ts';
import { allRoutes } from '../src/api.ts';
import { permissionsOf, roles } from '../src/organizations/index.ts';
import { listRoutes, type Route } from '../src/platform/http/index.ts';
import { transaction } from '../src/platform/index.ts';
import type { Client, Response } from './client.ts';
import { runningVps } from './orders.ts';
import { plantPasskey } from './passkeys.ts';
import { newCustomer, newMember, newStaff, type Person, type SignedIn, signedIn } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { bodyFor } from './samples.ts';
import { contents, settled, sql } from './sql.ts';

const routes = listRoutes(allRoutes);
const guarded = routes.filter((route) => route.auth !== 'public');
const ofOrganizations = routes.filter((route) => route.auth === 'organization');
const ofStaff = routes.filter((route) => route.auth === 'staff');
const withResource = ofOrganizations.filter((route) => route.path.includes('/:'));

/** Every permission there is; a new one is new here too. */
const everything = [
  ...[
    'activity.read',
    'billing.manage',
    'billing.pay',
    'billing.read',
    ...['dedicated.manage', 'dedicated.power', 'dedicated.read'],
    'members.manage',
    'members.read',
    'order',
    'organization.manage',
    'service.cancel',
    'service.manage',
    'service.read',
    ...['shield.manage', 'shield.read'],
    'ticket.read',
    'ticket.write',
  ],
  ...['vps.manage', 'vps.power', 'vps.read'],
  'webhook.manage',
];

type Owned = Awaited<ReturnType<typeof possessionsOf>>;

/** The resource that a path names, by the words before its parameter. A path not listed here fails. */
const resources: [RegExp, keyof Owned][] = [
  [/^\/dashboard\/services?\/:id/, 'service'],
  [/^\/dashboard\/organizations\/:id/, 'organization'],
  [/^\/dashboard\/invoices\/:id/, 'invoice'],
  [/^\/dashboard\/account\/ssh-keys\/:id/, 'sshKey'],
  [/^\/dashboard\/payment-methods\/:id/, 'paymentMethod'],
  [/^\/dashboard\/account\/sessions\/:id/, 'session'],
  [/^\/dashboard\/account\/passkeys\/:id/, 'passkey'],
  [/^\/dashboard\/account\/api-keys\/:id/, 'apiKey'],
  [/^\/dashboard\/webhooks\/deliveries\/:id/, 'delivery'],
  [/^\/dashboard\/webhooks\/:id/, 'webhook'],
  [/^\/dashboard\/tickets\/attachments\/:id/, 'attachment'],
  [/^\/shield\/v2\/rules\/apply\/:id/, 'shieldApply'],
  [/^\/shield\/v2\/rules\/groups?\/:id/, 'shieldGroup'],
  [/^\/shield\/v2\/rules\/:id/, 'shieldRule'],
  [/^\/shield\/v2\/rate-limiters\/:id/, 'shieldLimiter'],
  [/^\/shield\/v2\/attacks\/:id/, 'shieldAttack'],
  [/^\/shield\/v2\/mitigations\/:id/, 'shieldMitigation'],
];

let product: TestProduct;
let owner: Person;
let stranger: Person;
let owned: Owned;
/** The two signed in, for what no key may do. */
let ownerHere: SignedIn;
let strangerHere: SignedIn;
/** Sound in itself, and nobody's. */
let goneKey: string;

beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 50_000 });
  stranger = await newCustomer(product, { creditMinor: 50_000 });
  [ownerHere, strangerHere] = [await signedIn(product, owner), await signedIn(product, stranger)];
  // What they proved stays proved, however long tests take.
  await sql(product, `update sessions set proven_at = proven_at + interval '1 year'`);
  owned = await possessionsOf(owner);
  const gone = await transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, owner.userId, 'Gone'));
  await sql(product, 'delete from api_keys where id = $1', gone.id);
  goneKey = gone.key;
});
afterAll(() => product.stop());

/** What belongs to an organization or, where the specification has it so, to a person in it: an id of each. */
async function possessionsOf(person: Person) {
  const { serviceId, invoiceId } = await runningVps(product, person);
  const public_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Vxfg7qf8uGzYf3nrWfSxZHiNo3cYQVvqpVnZ1kqdk';
  const key = await person.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key });
  const history = await person.get(`/dashboard/service/${serviceId}/vps/history`);
  return {
    organization: person.organizationId,
    service: serviceId,
    invoice: invoiceId,
    action: Number(history.body.data.actions[0].id),
    sshKey: Number(key.body.data.ssh_key.id),
    paymentMethod: await methodOf(person),
    ...(await webhookOf(person)),
    session: (await signedIn(product, person)).sessionId,
    passkey: await plantPasskey(product, person.userId),
    apiKey: (await transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, person.userId, 'Named'))).id,
    ...(await ticketOf(person)),
    ...(await shieldOf(person)),
  };
}

/** What somebody has of Shield at their machine's address. */
async function shieldOf(person: Person) {
  const made = async (path: string, body: object): Promise<Record<string, number>> =>
    (await person.post(`/shield/v2${path}`, body)).body.data;
  const { ips } = (await person.get('/shield/v2/ips')).body.data;
  const address = String(ips[0].address);
  const rule = { destination: address, action: 'permit', protocol: 47, order: 1 };
  const limiter = { name: 'Named', packets_per_second: 10, per: 'rule', burst: 10 };
  const { id: shieldLimiter } = (await person.post('/shield/v2/rate-limiters', limiter)).body.data
    .rate_limiter;
  const { rule_id: shieldRule = 0 } = await made('/rules', rule);
  const preset = { destination: address, preset: 'block-rdp' };
  const { group_id: shieldGroup = 0 } = await made('/rules/presets', preset);
  // Of nobody: what it replaces would take the others along.
  const { apply_id: shieldApply = 0 } = await made('/rules/apply', {
    rules: [],
    destinations: [address],
    confirm_within_s: 3_600,
  });
  return {
    ...{ address, shieldLimiter: Number(shieldLimiter), shieldRule, shieldGroup, shieldApply },
    ...(await attackOn(person, address)),
  };
}

/** An attack that is over, as if it had been seen, and what was done against it. */
async function attackOn(person: Person, address: string) {
  const [row] = await sql<{ id: number }>(
    product,
    `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, ratio, readings, started_at,
       last_over_at, ended_at, peak_pps, peak_mbps, packets, bytes, ports, counted, created_at, updated_at, closed_at)
     select a.organization_id + 1, a.organization_id, a.service_id, a.address, p.node_id, 'udp', 2, 2, now(), now(), now(),
       1, 1, 1, 1, '{}', '{}', now(), now(), now()
     from addresses a join placements p on p.service_id = a.service_id
     where a.address = $1::cidr::inet and a.organization_id = $2 returning id`,
    ...[address, person.organizationId],
  );
  const [met] = await sql<{ id: number }>(
    product,
    `insert into shield_mitigations (id, attack_id, organization_id, service_id, address, kind, measure, ports, why,
       started_at, packets, bytes, released_at, because)
     select id + 1, id, organization_id, service_id, address, 'udp', 'limit_sources', '{}',
       '{"arrived": {"pps": 1, "mbps": 1}, "past": null, "limit": {"pps": 1, "mbps": 1}}', now(), 1, 1, now(), 'attack_over'
     from shield_attacks where id = $1 returning id`,
    row?.id,
  );
  return { shieldAttack: Number(row?.id), shieldMitigation: Number(met?.id) };
}

/** The code of a ticket, and a file in it. */
async function ticketOf(person: Person): Promise<{ ticket: string; attachment: number }> {
  const { body } = await person.post('/dashboard/tickets/create', {
    ...{ subject: 'Where is it?', department: 'support', priority: 'low', message: 'Here?' },
    attachments: [{ name: 'here.txt', content_base64: 'aGVyZQ==' }],
  });
  const { tid, replies } = body.data.ticket;
  return { ticket: tid, attachment: Number(replies[0].attachments[0].id) };
}

/** An endpoint, paused so that nothing is sent, with a delivery that waits. */
async function webhookOf(person: Person): Promise<{ webhook: number; delivery: number }> {
  const { body } = await person.post('/dashboard/webhooks', { url: 'https://hooks.example.com/x' });
  const webhook = Number(body.data.webhook.id);
  await person.patch(`/dashboard/webhooks/${webhook}`, { status: 'paused' });
  const test = await person.post(`/dashboard/webhooks/${webhook}/test`);
  return { webhook, delivery: Number(test.body.data.delivery.id) };
}

/** A saved method, as if the payment provider had told of it. */
async function methodOf(person: Person): Promise<number> {
  const [row] = await sql<{ id: number }>(
    product,
    `insert into payment_methods (id, organization_id, driver, reference, type, is_default, created_at)
     values ($1, $1, 'stripe', $2, 'card', true, now()) returning id`,
    ...[person.organizationId, `pm_${person.organizationId}`],
  );
  return Number(row?.id);
}

function nameOf(route: Route): string {
  return `${route.method} ${route.path}`;
}

/** The route's path with the ids of things that exist; other parameters get a value of the right shape. */
function pathOf(route: Route, of: Owned): string {
  return route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    if (name === 'tid') return String(of.ticket);
    if (name === 'ip') return encodeURIComponent(of.address);
    if (name === 'id') {
      const resource = resources.find(([pattern]) => pattern.test(route.path));
      if (route.auth === 'organization' && !resource)
        throw new Error(
          `say in resources of test/access.test.ts what ${route.path} names, and make one in possessionsOf`,
        );
      return String(of[resource?.[1] ?? 'invoice']);
    }
    return name.endsWith('_id') ? String(of.action) : 'a1b2c3d4';
  });
}

function send(client: Client, route: Route, headers?: Record<string, string>): Promise<Response> {
  const body = route.method === 'GET' ? undefined : bodyFor(route);
  return client.request(route.method, pathOf(route, owned), body, headers);
}

/** Whether a key may ask at all. */
function isForKeys({ fresh, sessionOnly }: Route): boolean {
  return !fresh && !sessionOnly;
}

function faceOf(answer: Response) {
  return { status: answer.status, ...answer.body };
}

describe('without a key that is good', () => {
  it.each(guarded.map((route) => [nameOf(route), route] as const))('%s answers 401', async (_, route) => {
    const organization = { 'x-organization-id': String(owner.organizationId) };
    for (const token of [undefined, '', 'nonsense', `${owner.key.slice(0, -1)}!`, goneKey]) {
      const answer = await send(product.nobody, route, {
        ...organization,
        ...(token === undefined ? {} : { token }),
      });
      const isCheckout = route.path === '/cart/checkout/invoice';
      expect(faceOf(answer)).toMatchObject({
        status: 401,
        success: false,
        error: 'Unauthorized',
        message: isCheckout ? 'unauthenticated' : 'Invalid or expired API key',
      });
    }
  });
});

describe('an endpoint of an organization', () => {
  const cases = ofOrganizations.map((route) => [nameOf(route), route] as const);

  it.each(cases)('%s answers 403 to who is no member, and 400 without one named', async (_, route) => {
    const foreign = { 'x-organization-id': String(owner.organizationId) };
    const missing = { 'x-organization-id': '4503599627370449' };
    const [toForeign, toMissing] = [
      await send(stranger, route, foreign),
      await send(stranger, route, missing),
    ];
    expect(faceOf(toForeign)).toMatchObject({ status: 403, success: false, code: 'forbidden' });
    expect({ ...toForeign.body, request_id: '' }).toEqual({ ...toMissing.body, request_id: '' });

    for (const header of ['x', '', '1.5', '-1']) {
      const answer = await send(owner, route, { 'x-organization-id': header });
      expect(faceOf(answer)).toMatchObject({ status: 400, code: 'organization_required' });
    }
    if (route.organization === 'default-when-absent') return;
    const answer = await send(product.nobody, route, { token: owner.key });
    expect(faceOf(answer)).toMatchObject({ status: 400, code: 'organization_required' });
  });

  it.each(withResource.map((route) => [nameOf(route), route] as const))(
    "%s answers 403 for another organization's resource, and changes nothing",
    async (_, route) => {
      await settled(product);
      const before = await contents(product);
      const answer = await send(isForKeys(route) ? stranger : strangerHere, route);
      expect(faceOf(answer)).toMatchObject({ status: 403, success: false, error: 'Forbidden' });
      expect(answer.body.code).not.toBe('session_required');
      expect(await contents(product)).toEqual(before);
    },
  );

  // An address that nobody has is answered as another organization's is: who has which is nobody's business.
  const withId = withResource.filter(({ path }) => !path.endsWith('/:ip'));

  it.each(withId.map((route) => [nameOf(route), route] as const))(
    '%s answers 404 for an id that nothing has',
    async (_, route) => {
      const nothing = Object.fromEntries(Object.keys(owned).map((name) => [name, 4242])) as unknown as Owned;
      const body = route.method === 'GET' ? undefined : bodyFor(route);
      const client = isForKeys(route) ? owner : ownerHere;
      const answer = await client.request(route.method, pathOf(route, nothing), body);
      expect(faceOf(answer)).toMatchObject({ status: 404, success: false, error: 'Not Found' });
    },
  );

  it.each(roles)('refuses a %s what the role does not hold, and changes nothing', async (role) => {
    const member = await newMember(product, owner.organizationId, role);
    const here = await signedIn(product, member);
    await member.get('/dashboard/account'); // a first use is written down
    await settled(product);
    const before = await contents(product);
    const held = permissionsOf(role);
    const known = permissionsOf('owner');
    for (const route of ofOrganizations) {
      if (route.permission === undefined) continue;
      expect(known, `${nameOf(route)} asks for a permission that no role has`).toContain(route.permission);
      if (held.has(route.permission)) continue;
      for (const client of [member, here])
        expect(faceOf(await send(client, route)), nameOf(route)).toMatchObject({
          status: 403,
          code: 'permission_denied',
        });
    }
    await settled(product);
    expect(await contents(product)).toEqual(before);
  });
});

describe('a key', () => {
  it.each(areas)('that is not for %s is refused what belongs to it, whoever owns it', async (area) => {
    const kept: Areas = { billing: true, shield: true, vps: true, [area]: false };
    const key = await transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, owner.userId, 'Kept'));
    await sql(product, `update api_keys set ${area} = false where id = $1`, key.id);
    const client: Client = {
      ...owner,
      request: (method, path, body, headers) =>
        owner.request(method, path, body, { ...headers, token: key.key }),
    };
    await settled(product); // its mail
    const before = await contents(product);
    const allowed = permissionsOf('owner', kept);
    const refused: string[] = [];
    for (const route of ofOrganizations) {
      if (route.permission === undefined || allowed.has(route.permission)) continue;
      const answer = await send(client, route);
      expect(faceOf(answer), nameOf(route)).toMatchObject({ status: 403, code: 'permission_denied' });
      refused.push(nameOf(route));
    }
    expect(refused).not.toEqual([]);
    expect(await contents(product)).toEqual(before);
  });

  it('that is not for billing does not show credit', async () => {
    const key = await transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, owner.userId, 'Kept'));
    const credit = async () =>
      (await product.nobody.get('/dashboard/account', { token: key.key })).body.data.user.credit;
    expect(await credit()).not.toBe('0.00');
    await sql(product, 'update api_keys set billing = false where id = $1', key.id);
    expect(await credit()).toBe('0.00');
  });

  it('is kept from these', () => {
    const without = (area: string) => {
      const allowed = permissionsOf('owner', { billing: true, shield: true, vps: true, [area]: false });
      return everything.filter((name) => ![...allowed].some((each) => each === name));
    };
    expect(Object.fromEntries(areas.map((area) => [area, without(area)]))).toEqual({
      billing: [
        ...[
          'activity.read',
          'billing.manage',
          'billing.pay',
          'billing.read',
          'members.manage',
          'members.read',
        ],
        ...['order', 'organization.manage', 'service.cancel', 'ticket.read', 'ticket.write'],
        'webhook.manage',
      ],
      shield: [
        ...['activity.read', 'members.manage', 'members.read', 'organization.manage', 'service.cancel'],
        ...['shield.manage', 'shield.read', 'ticket.read', 'ticket.write', 'webhook.manage'],
      ],
      vps: [
        ...['activity.read', 'dedicated.manage', 'dedicated.power', 'dedicated.read'],
        ...['members.manage', 'members.read', 'organization.manage', 'service.cancel'],
        ...['service.manage', 'ticket.read', 'ticket.write'],
        ...['vps.manage', 'vps.power', 'vps.read'],
        'webhook.manage',
      ],
    });
  });
});

describe('a test key', () => {
  it.each(['a customer', 'an administrator'])('of %s changes nothing, whatever it asks for', async (who) => {
    const isStaff = who !== 'a customer';
    const person = isStaff ? await newStaff(product, 'administrator') : owner;
    const { key } = await transaction(product.ctx, 'test.key', (tx) =>
      createApiKey(tx, person.userId, 'Tried', { terms: { test: true } }),
    );
    await product.nobody.get('/dashboard/account', { token: key });
    await settled(product);
    const before = await contents(product);
    for (const route of guarded.filter(({ auth }) => (auth === 'staff') === isStaff)) {
      const answer = await send(person, route, { token: key });
      if (answer.status === 200)
        expect([nameOf(route), answer.headers.get('test-key')]).toEqual([nameOf(route), 'true']);
      expect(answer.status, `${nameOf(route)}: ${JSON.stringify(answer.body)}`).not.toBe(500);
    }
    await settled(product);
    expect(await contents(product)).toEqual(before);
  });
});

/** A change whose caller is let in at once, and whose body comes when it is told to. Resolves to the answer. */
async function withheld(path: string, key: NewApiKey, body: object) {
  const sent = request(`${product.url}/api${path}`, {
    method: 'POST',
    headers: {
      ...{ token: key.key, 'x-organization-id': owner.organizationId },
      'content-type': 'application/json',
    },
  });
  sent.write(' ');
  await until(
    () =>
      sql<{ used: boolean }>(
        product,
        'select last_used_at is not null as used from api_keys where id = $1',
        key.id,
      ),
    ([row]) => row?.used === true,
  );
  return async () => {
    sent.end(JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const { code } = (await json(answer)) as { code?: string };
    return [answer.statusCode, code];
  };
}

describe('a request whose body comes late', () => {
  it('is for who may still make it, not for who was let in, and changes nothing otherwise', async () => {
    const technical = await newMember(product, owner.organizationId, 'technical');
    const stop = `/dashboard/service/${owned.service}/vps/stop`;
    const newKey = () =>
      transaction(product.ctx, 'test.key', (tx) => createApiKey(tx, technical.userId, 'Late'));
    const [revoked, kept, narrowed] = [await newKey(), await newKey(), await newKey()];
    const lowered = await newMember(product, owner.organizationId, 'technical');
    const ofLowered = await transaction(product.ctx, 'test.key', (tx) =>
      createApiKey(tx, lowered.userId, 'Late'),
    );
    const late = [
      await withheld(stop, revoked, {}),
      await withheld(stop, narrowed, {}),
      await withheld(stop, ofLowered, {}),
    ];
    const inTime = await withheld('/cart/quote', kept, {
      products: [{ id: 1, cycle: 'monthly', type: 'Hosting' }],
    });
    // By another process: nobody tells this one.
    await sql(product, 'update api_keys set revoked_at = now() where id = $1', revoked.id);
    await sql(product, `update api_keys set scopes = '{vps.read}' where id = $1`, narrowed.id);
    await sql(product, `update memberships set role = 'viewer' where user_id = $1`, lowered.userId);
    await settled(product);
    const before = await contents(product);
    product.clock.travel(1_000);
    expect(await Promise.all(late.map((finish) => finish()))).toEqual([
      [401, 'unauthorized'],
      [403, 'permission_denied'],
      [403, 'permission_denied'],
    ]);
    expect((await inTime())[0]).not.toBe(401);
    expect(await contents(product)).toEqual(before);
  });
});

describe('the roles', () => {
  it('hold these permissions', () => {
    expect(Object.fromEntries(roles.map((role) => [role, [...permissionsOf(role)].sort()]))).toEqual({
      owner: everything,
      admin: everything,
      billing: [
        ...[
          'billing.manage',
          'billing.pay',
          'billing.read',
          'dedicated.read',
          'members.read',
          'order',
          'service.read',
          ...['ticket.read', 'ticket.write'],
          'vps.read',
        ],
      ],
      technical: [
        ...['dedicated.manage', 'dedicated.power', 'dedicated.read'],
        ...['members.read', 'service.manage', 'service.read', 'shield.manage', 'shield.read'],
        ...['ticket.read', 'ticket.write', 'vps.manage', 'vps.power', 'vps.read'],
      ],
      support: [
        'dedicated.power',
        'dedicated.read',
        'members.read',
        'service.read',
        'shield.read',
        'ticket.read',
        'ticket.write',
        'vps.power',
        'vps.read',
      ],
      viewer: [
        ...['dedicated.read', 'members.read', 'service.read', 'shield.read', 'ticket.read', 'vps.read'],
      ],
    });
  });
});

describe('an endpoint of staff', () => {
  it.each(ofStaff.map((route) => [nameOf(route), route] as const))(
    '%s refuses customers and staff of other roles, and changes nothing',
    async (_, route) => {
      const others = ['administrator', 'billing', 'support', 'operator'] as const;
      const refused = others.filter((role) => route.staffRoles?.includes(role) === false);
      const people = await Promise.all(refused.map((role) => newStaff(product, role)));
      await settled(product);
      const before = await contents(product);
      expect(faceOf(await send(owner, route))).toMatchObject({ status: 403, code: 'staff_only' });
      for (const person of people)
        expect(faceOf(await send(person, route))).toMatchObject({ status: 403, code: 'permission_denied' });
      expect(await contents(product)).toEqual(before);
    },
  );
});

describe('a key of staff', () => {
  it.each(areas)('that is not for %s is refused what belongs to it, and changes nothing', async (area) => {
    const refused = ofStaff.filter((route) => route.area === area || route.area === undefined);
    const administrator = await newStaff(product, 'administrator');
    const made = await administrator.post('/staff/keys', { name: 'Kept', [area]: false });
    const kept = { ...administrator, request: product.nobody.request };
    await settled(product);
    const before = await contents(product);
    for (const route of refused) {
      const answer = await send(kept, route, { token: made.body.data.token });
      expect(faceOf(answer), nameOf(route)).toMatchObject({ status: 403, code: 'permission_denied' });
    }
    expect(await contents(product)).toEqual(before);
  });

  it('is for areas that there are', () => {
    const known: (string | undefined)[] = [...areas, 'any', undefined];
    expect(ofStaff.filter((route) => !known.includes(route.area)).map(nameOf)).toEqual([]);
  });
});

describe('an endpoint without an owner', () => {
  it('is one of these', () => {
    const named = (auth: Route['auth']) => routes.filter((route) => route.auth === auth).map(nameOf);
    expect(named('public')).toEqual([
      ...['GET /products', 'GET /products/:id', 'POST /cart/quote'],
      ...['POST /auth/register', 'POST /auth/email/verify', 'POST /auth/email/resend', 'POST /auth/login'],
      'POST /auth/login/2fa',
      ...['POST /auth/password/forgot', 'POST /auth/password/reset'],
      ...['GET /brand', 'GET /brand/pictures/:name'],
      ...['POST /auth/email/change/confirm', 'POST /auth/email/change/revoke'],
      ...['POST /auth/passkeys/options', 'POST /auth/passkeys/verify', 'POST /auth/second-factor/keep'],
      ...['GET /mail/unsubscribe', 'POST /mail/unsubscribe'],
      ...['GET /payment-pages/:page', 'POST /payments/:driver/events', 'GET /erasure-keys'],
      ...['POST /shield/v2/auth/api', 'POST /tickets/feedback'],
    ]);
    // Of a session itself, and the three that the specification (§5, rule 4) lets go without an organization.
    expect(named('account')).toEqual([
      ...['POST /auth/logout', 'POST /auth/reauthenticate'],
      'GET /dashboard/account',
      ...['POST /auth/reauthenticate/passkey/options', 'POST /auth/reauthenticate/passkey'],
      'GET /dashboard/organizations',
      'POST /dashboard/organizations',
    ]);
  });
});
