/**
 * If-Match, proved for every change there is: the cases are made from the list of routes, so a new PATCH, PUT or DELETE
 * is tested from its first day, and fails here until a thing for it to change is made.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { allRoutes } from '../src/api.ts';
import { listRoutes, type Route } from '../src/platform/http/index.ts';
import type { Client } from './client.ts';
import { certificates } from './clusters.ts';
import { runningVps } from './orders.ts';
import { plantPasskey } from './passkeys.ts';
import { newCustomer, newMember, newStaff, type Person, signedIn, staffHere } from './people.ts';
import type { TestProduct } from './product.ts';
import { newServerProduct, newServers, serverCart } from './rack/stock.ts';
import { contents, settled, settledContents, sql } from './sql.ts';
import { type PaidProduct, startPaidProduct } from './stripe/product.ts';

const changes = listRoutes(allRoutes).filter(({ method }) => ['PATCH', 'PUT', 'DELETE'].includes(method));

let paid: PaidProduct;
let product: TestProduct;
let owner: Person;
let service: number;
/** Somebody signed in, for what no key may do. */
let staff: Client;
let holder: { userId: number; here: Client };
let made = 0;
beforeAll(async () => {
  paid = await startPaidProduct();
  ({ product } = paid);
  // It comes by itself a minute after the start, in the middle of what must not change anything.
  await product.periodic('billing.compareProvider');
  owner = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: service } = await runningVps(product, owner));
  staff = await staffHere(product, 'administrator');
  const person = await newCustomer(product);
  const here = await signedIn(product, person);
  holder = { userId: person.userId, here };
  // What they proved stays proved, however long tests take.
  await sql(
    product,
    `update sessions set proven_at = proven_at + interval '1 year' where id = $1`,
    here.sessionId,
  );
});
beforeEach(() => settled(product));
afterAll(() => paid.stop());

interface Thing {
  path: string;
  /** Where what it changes is read, when that is not its own path. */
  reads?: string;
  /** Two bodies that change it, each to something else. */
  bodies: [object?, object?];
}

async function madeBy(answer: ReturnType<Client['post']>): Promise<Record<string, Record<string, unknown>>> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

/** The beginning of a network of the newest thing's own. */
const tenDot = () => `10.${99 + Math.floor(made / 256)}.${made % 256}`;

async function newPool(): Promise<number> {
  made += 1;
  const pool = { name: `pool ${made}`, location: 'NOWHERE', network: `${tenDot()}.0/24`, rest_hours: 1 };
  const { address_pool } = await madeBy(
    product.staff.post('/staff/address-pools', { ...pool, gateway: `${tenDot()}.1` }),
  );
  return Number(address_pool?.id);
}

/** One that was looked at and that nobody speaks to: what a look finds would be written down in the middle of a test. */
async function newCluster(): Promise<number> {
  made += 1;
  const { ours } = await certificates();
  const [row] = await sql<{ id: number }>(
    product,
    `insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, certificate, credential,
       check_state, created_at)
     values ($1, 'incus', 'NOWHERE', array[$2], $1, 'local', 'br0', repeat('5f', 32), $3, '', 'ok', now()) returning id`,
    ...[`cluster-${made}`, `https://${tenDot()}.1:8443`, ours.certificate],
  );
  return Number(row?.id);
}

/** One that was read, and that nobody reads for a while. */
async function newSwitch(): Promise<number> {
  made += 1;
  const [row] = await sql<{ id: number }>(
    product,
    `insert into switches (name, location, address, port, username, auth_protocol, passphrases, check_state, checked_at, created_at)
     values ($1, 'NOWHERE', $2, 161, 'us', 'sha256', '', 'ok', '9999-01-31', now()) returning id::int as id`,
    ...[`switch-${made}`, `${tenDot()}.4`],
  );
  return Number(row?.id);
}

async function newRack(): Promise<number> {
  made += 1;
  const rack = { name: `rack ${made}`, location: 'NOWHERE', units: 42 };
  return Number((await madeBy(product.staff.post('/staff/racks', rack))).rack?.id);
}

async function newProfile(): Promise<string> {
  made += 1;
  const profile = { name: `profile ${made}`, threads: made };
  return `/staff/server-profiles/${(await madeBy(product.staff.post('/staff/server-profiles', profile))).profile?.id}`;
}

/** One that waits for a machine whose member answers nobody. */
async function newEvacuation(): Promise<number> {
  const cluster = await newCluster();
  const [node] = await sql<{ id: number }>(
    product,
    `with node as (insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at, cluster_id, member)
       values ($1, 'NOWHERE', 0, 0, 0, now(), $2, 'n1') returning id)
     insert into vps_evacuations (node_id, kind, cold, started_at) select id, 'evacuate', false, now() from node
     returning node_id::int as id`,
    ...[`member-${made}`, cluster],
  );
  return Number(node?.id);
}

/** Routers that nobody speaks to any more. */
async function goneEdge(): Promise<number> {
  made += 1;
  const [row] = await sql<{ id: number }>(
    product,
    `with other as (insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at, state)
       values ($1, 'NOWHERE', 0, 0, 0, now(), 'down') returning id)
     insert into shield_edges (node_id, kind, name, engine, capabilities, served, created_at)
     select id, 'routers', $1, 'bgp', '{}', false, now() from other returning id`,
    `gone ${made}`,
  );
  return Number(row?.id);
}

async function newImage(): Promise<string> {
  made += 1;
  const slug = `image-${made}`;
  await sql(
    product,
    `insert into images (slug, name, version, source, min_memory_mib, min_disk_gib, state, created_at)
     select $1, name, version, source, min_memory_mib, min_disk_gib, state, created_at from images where slug = 'tiny'`,
    slug,
  );
  return slug;
}

async function newCannedReply(): Promise<string> {
  made += 1;
  const reply = { name: `Reply ${made}`, message: 'Hello' };
  const { canned_reply } = await madeBy(product.staff.post('/staff/canned-replies', reply));
  return `/staff/canned-replies/${canned_reply?.id}`;
}

async function newColleague(): Promise<string> {
  const { userId } = await newMember(product, owner.organizationId, 'viewer');
  return `/dashboard/organizations/${owner.organizationId}/members/${userId}`;
}

async function newKey(): Promise<number> {
  made += 1;
  const { api_key } = await madeBy(holder.here.post('/dashboard/account/api-keys', { name: `Key ${made}` }));
  return Number(api_key?.id);
}

async function newWebhook(): Promise<number> {
  const { webhook } = await madeBy(
    owner.post('/dashboard/webhooks', {
      url: 'https://hooks.example.com/x',
      events: ['service.suspended'], // nothing is sent meanwhile
    }),
  );
  return Number(webhook?.id);
}

const shieldPath = '/shield/v2';

async function ownAddress(): Promise<string> {
  const { ips } = (await owner.get(`${shieldPath}/ips`)).body.data;
  return ips.find((ip: { service_id: number }) => ip.service_id === service).address;
}

async function newShieldRule(): Promise<string> {
  made += 1;
  const rule = { destination: await ownAddress(), action: 'permit', protocol: 47, order: made };
  const { status, body } = await owner.post(`${shieldPath}/rules`, rule);
  expect(status, JSON.stringify(body)).toBe(200);
  return `${shieldPath}/rules/${body.data.rule_id}`;
}

async function newLimiter(): Promise<string> {
  made += 1;
  const { rate_limiter } = await madeBy(
    owner.post(`${shieldPath}/rate-limiters`, {
      ...{ name: `Rate ${made}`, packets_per_second: 5, per: 'rule', burst: 5 },
    }),
  );
  return `${shieldPath}/rate-limiters/${rate_limiter?.id}`;
}

/** A thing of its own for each operation that changes one. */
const things: Record<string, () => Promise<Thing>> = {
  updateShieldIp: async () => {
    made += 1;
    const named = (name: string) => ({ address, dns_name: `${name}${made}.example.com` });
    const address = await ownAddress();
    return { path: `${shieldPath}/ips`, bodies: [named('one'), named('other')] };
  },
  updateShieldRule: async () => ({
    path: await newShieldRule(),
    bodies: [{ note: 'one' }, { note: 'other' }],
  }),
  enableShieldRule: async () => {
    const reads = await newShieldRule();
    await owner.post(`${reads}/disable`);
    return { path: `${reads}/enable`, reads, bodies: [{}, {}] };
  },
  disableShieldRule: async () => {
    const reads = await newShieldRule();
    return { path: `${reads}/disable`, reads, bodies: [{}, {}] };
  },
  deleteShieldRule: async () => ({ path: await newShieldRule(), bodies: [] }),
  deleteShieldGroup: async () => {
    const preset = { destination: await ownAddress(), preset: 'block-rdp' };
    const { body } = await owner.post(`${shieldPath}/rules/presets`, preset);
    const id = body.data.group_id;
    return { path: `${shieldPath}/rules/groups/${id}`, reads: `${shieldPath}/rules/group/${id}`, bodies: [] };
  },
  updateRateLimiter: async () => ({ path: await newLimiter(), bodies: [{ burst: 6 }, { burst: 7 }] }),
  deleteRateLimiter: async () => ({ path: await newLimiter(), bodies: [] }),
  updateSensitivity: async () => {
    // There is one for each address, so it is never set to what it was before.
    made += 2;
    const from = (pps: number) => ({ thresholds: { udp: { pps } } });
    const path = `${shieldPath}/sensitivity/${encodeURIComponent(await ownAddress())}`;
    return { path, bodies: [from(made), from(made + 1)] };
  },
  updateWebhook: async () => ({
    path: `/dashboard/webhooks/${await newWebhook()}`,
    bodies: [{ description: 'one' }, { description: 'other' }],
  }),
  deleteWebhook: async () => ({ path: `/dashboard/webhooks/${await newWebhook()}`, bodies: [] }),
  updateProduct: async () => {
    made += 1;
    const stock = (more: number) => ({ stock: made * 2 + more });
    return { path: `/staff/products/${product.demo.products.hosting}`, bodies: [stock(0), stock(1)] };
  },
  updateProductGroup: async () => {
    made += 1;
    const { product_group } = await madeBy(
      product.staff.post('/staff/product-groups', { name: `Group ${made}` }),
    );
    const name = (word: string) => ({ name: `${word} ${made}` });
    return { path: `/staff/product-groups/${product_group?.id}`, bodies: [name('One'), name('Other')] };
  },
  updateService: async () => {
    const path = `/dashboard/services/${service}`;
    const { auto_renew: was } = (await owner.get(path)).body.data.service;
    return { path, bodies: [{ auto_renew: !was }, { auto_renew: !was }] };
  },
  revokeCancellation: async () => {
    const path = `/dashboard/services/${service}/cancel`;
    await madeBy(owner.post(path, { type: 'end_of_period' }));
    return { path, bodies: [] };
  },
  updateServiceNote: async () => {
    made += 1;
    const note = (text: string) => ({ note: `${text} ${made}` });
    return { path: `/dashboard/services/${service}/note`, bodies: [note('one'), note('other')] };
  },
  updateOrganization: async () => {
    made += 1;
    const named = (name: string) => ({ name: `${name} ${made}` });
    return {
      path: `/dashboard/organizations/${owner.organizationId}`,
      bodies: [named('One'), named('Other')],
    };
  },
  correctOrganization: async () => {
    made += 1;
    const named = (name: string) => ({ name: `${name} ${made}` });
    return {
      path: `/staff/organizations/${owner.organizationId}`,
      bodies: [named('Right'), named('Better')],
    };
  },
  updateOrganizationMember: async () => ({
    path: await newColleague(),
    bodies: [{ role: 'support' }, { role: 'billing' }],
  }),
  withdrawInvitation: async () => {
    made += 1;
    const path = `/dashboard/organizations/${owner.organizationId}/invitations`;
    const { invitation } = await madeBy(
      owner.post(path, { email: `guest${made}@example.com`, role: 'viewer' }),
    );
    return { path: `${path}/${invitation?.id}`, bodies: [] };
  },
  removeOrganizationMember: async () => ({ path: await newColleague(), bodies: [] }),
  updateBillingProfile: async () => {
    made += 1;
    const city = (name: string) => ({ city: `${name} ${made}` });
    return { path: '/dashboard/billing/profile', bodies: [city('One'), city('Other')] };
  },
  changePaymentMethod: async () => {
    const path = `/dashboard/payment-methods/${await paid.saveMethod(owner)}`;
    const { is_default: was } = (await owner.get(path)).body.data.payment_method;
    return { path, bodies: [{ is_default: !was }, { is_default: !was }] };
  },
  removePaymentMethod: async () => ({
    path: `/dashboard/payment-methods/${await paid.saveMethod(owner)}`,
    bodies: [],
  }),
  updateCoupon: async () => {
    made += 1;
    const { coupon } = await madeBy(
      product.staff.post('/staff/coupons', { code: `CODE${made}`, percent: 10 }),
    );
    return { path: `/staff/coupons/${coupon?.id}`, bodies: [{ max_uses: 1 }, { max_uses: 2 }] };
  },
  removeTaxRate: async () => {
    made += 1;
    const valid_from = new Date(Date.UTC(2090, 0, made)).toISOString().slice(0, 10);
    const { rate } = await madeBy(
      product.staff.post('/staff/tax/rates', { country: 'JP', rate: '7.00', valid_from }),
    );
    return { path: `/staff/tax/rates/${rate?.id}`, bodies: [] };
  },
  updateTaxStanding: async () => {
    made += 1;
    const exempt = (reason: string) => ({ exempt_reason: `${reason} ${made}` });
    return {
      path: `/staff/organizations/${owner.organizationId}/tax`,
      bodies: [exempt('One'), exempt('Other')],
    };
  },
  updateSettings: async () => {
    made += 1;
    const named = (name: string) => ({ company: { name: `${name} ${made}` } });
    return { path: '/staff/settings', bodies: [named('One'), named('Other')] };
  },
  updateAccountDetails: async () => {
    made += 1;
    const phone = (last: number) => ({ phone: `+31 20 ${made} 010${last}` });
    return { path: '/dashboard/account', bodies: [phone(0), phone(1)] };
  },
  updateApiKey: async () => {
    made += 1;
    const name = (word: string) => ({ name: `${word} ${made}` });
    return { path: `/dashboard/account/api-keys/${await newKey()}`, bodies: [name('one'), name('other')] };
  },
  revokeApiKey: async () => ({ path: `/dashboard/account/api-keys/${await newKey()}`, bodies: [] }),
  endSession: async () => ({
    path: `/dashboard/account/sessions/${(await signedIn(product, owner)).sessionId}`,
    bodies: [],
  }),
  endOtherSessions: async () => {
    await signedIn(product, owner);
    return { path: '/dashboard/account/sessions', bodies: [] };
  },
  renamePasskey: async () => {
    made += 1;
    const path = `/dashboard/account/passkeys/${await plantPasskey(product, holder.userId)}`;
    return { path, bodies: [{ name: `One ${made}` }, { name: `Other ${made}` }] };
  },
  removePasskey: async () => ({
    path: `/dashboard/account/passkeys/${await plantPasskey(product, holder.userId)}`,
    bodies: [],
  }),
  correctUser: async () => {
    made += 1;
    const name = (first_name: string) => ({ first_name: `${first_name} ${made}` });
    return { path: `/staff/users/${owner.userId}`, bodies: [name('One'), name('Other')] };
  },
  revokeFactorReset: async () => {
    const { userId } = await newCustomer(product);
    await plantPasskey(product, userId);
    const path = `/staff/users/${userId}/factor-reset`;
    await madeBy(staff.post(path, { reason: 'Lost' }));
    return { path, bodies: [] };
  },
  updateStaff: async () => {
    made += 1;
    const { userId } = await newStaff(product, 'support');
    const name = (first_name: string) => ({ first_name: `${first_name} ${made}` });
    return { path: `/staff/staff/${userId}`, bodies: [name('One'), name('Other')] };
  },
  removeStaff: async () => ({
    path: `/staff/staff/${(await newStaff(product, 'support')).userId}`,
    bodies: [],
  }),
  deleteSshKey: async () => {
    made += 1;
    const public_key = `ssh-ed25519 ${Buffer.concat([
      Buffer.from('0000000b7373682d6564323535313900000020', 'hex'),
      Buffer.alloc(32, made),
    ]).toString('base64')}`;
    const body = { name: 'laptop', public_key };
    const { ssh_key } = await madeBy(owner.post('/dashboard/account/ssh-keys', body));
    return { path: `/dashboard/account/ssh-keys/${ssh_key?.id}`, bodies: [] };
  },
  updateIpAddress: async () => {
    const path = `/dashboard/service/${service}/vps/ips`;
    const { address } = (await owner.get(path)).body.data.ips[0];
    const named = (dns_name: string) => ({ address, dns_name });
    made += 1;
    return { path, bodies: [named(`a${made}.example.com`), named(`b${made}.example.com`)] };
  },
  updateDedicatedIpAddress: async () => {
    const productId = await newServerProduct(product);
    await newServers(product, productId, 1);
    const order = await madeBy(owner.post('/cart/checkout/invoice', serverCart(productId)));
    const id = Number((order.service_ids as unknown as number[])[0]);
    await sql(product, `update services set status = 'active' where id = $1`, id);
    const path = `/dashboard/service/${id}/dedicated/ips`;
    const { address } = (await owner.get(path)).body.data.ips[0];
    const named = (dns_name: string) => ({ address, dns_name });
    made += 1;
    return { path, bodies: [named(`c${made}.example.com`), named(`d${made}.example.com`)] };
  },
  deleteSnapshot: async () => {
    made += 1;
    const path = `/dashboard/service/${service}/vps/snapshots`;
    await madeBy(owner.post(path, { name: `kept-${made}` }));
    await settled(product);
    return { path: `${path}/kept-${made}`, bodies: [] };
  },
  updateVpsSettings: async () => {
    made += 1;
    // Off: of one that is on, a backup would begin in the middle of what must not change anything, later in the day than its hour.
    const keep = (hour: number) => ({ auto_backup: { enabled: false, hour, keep: 1 + (made % 5) } });
    return { path: `/dashboard/service/${service}/vps/settings`, bodies: [keep(3), keep(4)] };
  },
  updateTicket: async () => {
    made += 1;
    const opening = { subject: `Ticket ${made}`, department: 'support', priority: 'low', message: 'Help' };
    const { ticket } = await madeBy(owner.post('/dashboard/tickets/create', opening));
    return { path: `/staff/tickets/${ticket?.tid}`, bodies: [{ priority: 'high' }, { priority: 'urgent' }] };
  },
  updateCannedReply: async () => {
    const name = (word: string) => ({ name: `${word} ${made}` });
    return { path: await newCannedReply(), bodies: [name('One'), name('Other')] };
  },
  deleteUnclaimedMail: async () => {
    made += 1;
    const id = 4_503_599_627_380_000 + made;
    await sql(
      product,
      `insert into ticket_mails (id, digest, file, size_bytes, recipients, is_cut, received_at, state, reason, decided_at)
       values ($1, sha256(convert_to($2, 'UTF8')), $2, 1, '{}', false, now(), 'unclaimed', 'unreadable', now())`,
      ...[id, `mails/${id}.eml`],
    );
    return { path: `/staff/unclaimed-mails/${id}`, bodies: [] };
  },
  deleteCannedReply: async () => ({ path: await newCannedReply(), bodies: [] }),
  updateTicketSubject: async () => {
    made += 1;
    const opening = { subject: `Ticket ${made}`, department: 'support', priority: 'low', message: 'Help' };
    const { ticket } = await madeBy(owner.post('/dashboard/tickets/create', opening));
    const subject = (word: string) => ({ subject: `${word} ${made}` });
    return { path: `/dashboard/tickets/${ticket?.tid}/subject`, bodies: [subject('One'), subject('Other')] };
  },
  updateNode: async () => {
    made += 1;
    const [node] = (await product.staff.get('/staff/nodes')).body.data.nodes;
    const reserve = (more: number) => ({ disk_reserve_gib: made * 2 + more });
    return { path: `/staff/nodes/${node.id}`, bodies: [reserve(0), reserve(1)] };
  },
  changeCluster: async () => {
    const path = `/staff/clusters/${await newCluster()}`;
    return { path, bodies: [{ state: 'draining' }, { name: `other-${made}` }] };
  },
  changeRack: async () => {
    const path = `/staff/racks/${await newRack()}`;
    return { path, bodies: [{ units: 20 }, { note: 'Other' }] };
  },
  changeServerProfile: async () => ({
    path: await newProfile(),
    bodies: [{ note: 'one' }, { note: 'other' }],
  }),
  removeServerProfile: async () => ({ path: await newProfile(), bodies: [] }),
  removeRack: async () => ({ path: `/staff/racks/${await newRack()}`, bodies: [] }),
  changeSwitch: async () => {
    const path = `/staff/switches/${await newSwitch()}`;
    return { path, bodies: [{ note: 'One' }, { note: 'Other' }] };
  },
  removeSwitch: async () => ({ path: `/staff/switches/${await newSwitch()}`, bodies: [] }),
  changeServer: async () => {
    made += 1;
    const wanted = { name: `server-${made}`, serial: `serial ${made}` };
    const { server } = await madeBy(product.staff.post('/staff/servers', wanted));
    return { path: `/staff/servers/${server?.id}`, bodies: [{ note: 'One' }, { note: 'Other' }] };
  },
  removeCluster: async () => ({ path: `/staff/clusters/${await newCluster()}`, bodies: [] }),
  stopEvacuation: async () => ({ path: `/staff/nodes/${await newEvacuation()}/evacuation`, bodies: [] }),
  updateShieldProduct: async () => {
    const { id } = (await product.staff.get('/staff/shield/products')).body.data.products[0];
    made += 1;
    // What is so already changes nothing, and is no other state.
    const total = (pps: number) => ({ thresholds: { total: { pps, mbps: null } } });
    return { path: `/staff/shield/products/${id}`, bodies: [total(made * 2), total(made * 2 + 1)] };
  },
  updateShieldEdge: async () => {
    const { id } = (await product.staff.get('/staff/shield/edges')).body.data.edges[0];
    made += 1;
    return {
      path: `/staff/shield/edges/${id}`,
      bodies: [{ name: `One ${made}` }, { name: `Other ${made}` }],
    };
  },
  removeShieldEdge: async () => ({ path: `/staff/shield/edges/${await goneEdge()}`, bodies: [] }),
  removeShieldPrefix: async () => {
    const edge = await goneEdge();
    made += 1;
    const [row] = await sql<{ id: number }>(
      product,
      'insert into shield_prefixes (edge_id, network, created_at) values ($1, $2, now()) returning id',
      ...[edge, `${tenDot()}.0/24`],
    );
    return { path: `/staff/shield/prefixes/${row?.id}`, bodies: [] };
  },
  updateShieldOrganization: async () => {
    const path = `/staff/shield/organizations/${owner.organizationId}`;
    await product.staff.patch(path, { blackholes: null });
    return { path, bodies: [{ blackholes: 'allowed' }, { blackholes: 'forbidden' }] };
  },
  changeAddressPool: async () => ({
    path: `/staff/address-pools/${await newPool()}`,
    bodies: [{ rest_hours: 2 }, { rest_hours: 3 }],
  }),
  removeAddressPool: async () => ({ path: `/staff/address-pools/${await newPool()}`, bodies: [] }),
  updatePoolAddress: async () => {
    const path = `/staff/address-pools/${await newPool()}/addresses`;
    const reserve = (last: number) => ({ address: `${tenDot()}.${last}`, reserved: true, note: 'printer' });
    return { path, bodies: [reserve(2), reserve(3)] };
  },
  changeOperatingSystemImage: async () => ({
    path: `/staff/images/${await newImage()}`,
    bodies: [{ name: 'One' }, { name: 'Other' }],
  }),
  revokeStaffKey: async () => {
    const key = await product.staff.post('/staff/keys', { name: 'script' });
    return { path: `/staff/keys/${key.body.data.api_key.id}`, bodies: [] };
  },
  removeOperatingSystemImage: async () => ({ path: `/staff/images/${await newImage()}`, bodies: [] }),
};

const clientOf = ({ auth, fresh, sessionOnly }: Route): Client => {
  if (auth === 'staff') return fresh ? staff : product.staff;
  return fresh || sessionOnly ? holder.here : owner;
};

async function tagOf(route: Route, { path, reads = path }: Thing): Promise<string> {
  const answer = await clientOf(route).get(reads);
  expect(answer.status).toBe(200);
  const tag = answer.headers.get('etag');
  expect(tag, `GET ${path} has an ETag`).toMatch(/^"[\w-]+"$/);
  return tag ?? '';
}

function change(route: Route, { path, bodies }: Thing, tag?: string, which: 0 | 1 = 0) {
  const headers: Record<string, string> = tag === undefined ? {} : { 'if-match': tag };
  return clientOf(route).request(route.method, path, bodies[which], headers);
}

async function thingFor(route: Route): Promise<Thing> {
  const make = things[route.operation];
  if (make === undefined)
    throw new Error(`say in things of test/ifMatch.test.ts what ${route.operation} changes`);
  const thing = await make();
  await settled(product);
  return thing;
}

describe.each(changes.map((route) => [route.operation, route] as const))('If-Match of %s', (_, route) => {
  it('that is stale is refused in words, and nothing changes', async () => {
    const thing = await thingFor(route);
    const tag = await tagOf(route, thing);
    const before = await settledContents(product);
    for (const stale of ['"old"', `W/${tag}`, 'nonsense', '"a", "b"']) {
      const answer = await change(route, thing, stale);
      expect([answer.status, answer.body.code]).toEqual([412, 'precondition_failed']);
      expect(answer.body.message).toMatch(/changed since you read it; read it again/);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('that is right goes through, and so does the change without it', async () => {
    for (const named of [true, false]) {
      const thing = await thingFor(route);
      const answer = await change(route, thing, named ? await tagOf(route, thing) : undefined);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      await settled(product);
    }
    for (const form of [(tag: string) => `"x", ${tag}`, () => '*']) {
      const thing = await thingFor(route);
      expect((await change(route, thing, form(await tagOf(route, thing)))).status).toBe(200);
      await settled(product);
    }
  });

  it('lets one of two changes through that were made of the same state', async () => {
    const thing = await thingFor(route);
    const tag = await tagOf(route, thing);
    const answers = await Promise.all([change(route, thing, tag, 0), change(route, thing, tag, 1)]);
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses[0]).toBe(200);
    // What is gone is not found, and what is being deleted is another state or locked.
    expect(route.method === 'DELETE' ? [404, 409, 412] : [412]).toContain(statuses[1]);
  });
});

it('the tag of a node stays the same while machines come and go on it', async () => {
  const [node] = (await product.staff.get('/staff/nodes')).body.data.nodes;
  const tag = async () => (await product.staff.get(`/staff/nodes/${node.id}`)).headers.get('etag');
  const before = await tag();
  await runningVps(product, owner);
  expect(await tag()).toBe(before);
  // Nor do copies that are made, or what is wrong with its host.
  const write = (words: string) => sql(product, `update nodes set ${words} where id = $1`, node.id);
  await write(`trouble = 'no room', troubled_at = now(), copies_gib = copies_gib + 1`);
  expect(await tag()).toBe(before);
  await write('trouble = null, troubled_at = null, copies_gib = copies_gib - 1');
});
