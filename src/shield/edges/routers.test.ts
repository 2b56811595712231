import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import type { Packet } from '../../drivers/edge/index.ts';
import {
  type DrivenProduct,
  defended,
  newestAttack,
  reflected,
  startDriven,
} from '../mitigation/driven.testbed.ts';
import { dropSsh, newTenant, packet, rulesPath, type Tenant } from '../testbed.ts';
import { type RoutersInMemory, routersInMemory } from './routers.testbed.ts';

const changes = watchChanges();
let product: DrivenProduct;
let routers: RoutersInMemory;
let edgeId: number;
let tenant: Tenant;
const settings = (fields: object) =>
  sql(
    product,
    `insert into settings (section, fields, changed_at) values ('shield', $1, now())
     on conflict (section) do update set fields = excluded.fields`,
    JSON.stringify(fields),
  );
const edgePath = () => `/staff/shield/edges/${edgeId}`;
const turns = async () =>
  (
    await sql<{ health: string }>(
      product,
      `select coalesce(data ->> 'health', 'well') as health from journal
       where action like 'shield.edge.%' and action <> 'shield.edge.changed' and subject_id = $1 order by id`,
      edgeId,
    )
  ).map(({ health }) => health);
const readEdge = async () => (await product.staff.get(edgePath())).body.data.edge;

beforeAll(async () => {
  routers = routersInMemory();
  product = await startDriven({ routers });
  const { edges } = (await product.staff.get('/staff/shield/edges?kind=routers')).body.data;
  edgeId = edges[0].id;
  const { networks } = await pools();
  for (const network of networks) {
    const { status } = await product.staff.post('/staff/shield/prefixes', { edge_id: edgeId, network });
    if (status !== 200) throw new Error(`the prefix was answered ${status}`);
  }
  await product.staff.patch(edgePath(), { blackholes: true });
  await settings({ flowspec_from_pps: 400, blackhole_from_pps: 2_000 });
});
afterAll(() => product.stop());

async function pools(): Promise<{ networks: string[] }> {
  const { body } = await product.staff.get('/staff/address-pools');
  return { networks: body.data.address_pools.map(({ network }: { network: string }) => network) };
}

async function someone(change: Record<string, unknown> = {}): Promise<Tenant> {
  const made = await newTenant(product);
  await defended(made, change);
  await product.seconds(4);
  return made;
}

/** Seconds in which what routers let through arrives. */
async function behindRouters(count: number, ...sent: [Packet, number][]): Promise<number> {
  let arrived = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const through = sent.map(([each, times]): [Packet, number] => [
      each,
      routers.table.pass(each) ? times : 0,
    ]);
    arrived = through.reduce((sum, [, times]) => sum + times, 0);
    await product.second(...through);
    await settled(product);
  }
  return arrived;
}

const measuresOf = async (who: Tenant) =>
  (await newestAttack(who)).mitigations.map(
    ({ measure, because }: { measure: string; because: string | null }) =>
      `${measure} ${because ?? 'stands'}`,
  );

describe('an attack that is more than what filters here is to bear', () => {
  it('is dropped by the routers in front, looked after from time to time, and over when nothing comes any more', async () => {
    tenant = await someone();
    const [ntp, web] = [
      reflected(tenant.address),
      packet(tenant.address, { ports: { source: 4, destination: 443 } }),
    ];
    const began = product.clock.now().getTime();
    await behindRouters(3, [ntp, 1_500]);
    expect(await measuresOf(tenant)).toEqual(['drop_reflection stands']);
    await behindRouters(5, [ntp, 1_500]);
    // Eight readings, each of a second at least, so none of more than this.
    const longest = (product.clock.now().getTime() - began) / 1_000 - 7;
    expect(await measuresOf(tenant)).toEqual(['drop_reflection stands', 'flowspec stands']);
    expect(await behindRouters(3, [ntp, 1_500], [web, 10])).toBe(10);
    const [, atRouters] = (await newestAttack(tenant)).mitigations;
    expect(atRouters).toMatchObject({ by: 'routers', in_force: true, error: null, kind: 'reflection' });
    expect(atRouters.why).toMatchObject({ limit: { pps: 400, mbps: 1_000 } });
    expect(atRouters.why.arrived.pps).toBeGreaterThanOrEqual(Math.floor(1_500 / longest));
    // Nobody sees it here for minutes: that is no end.
    await behindRouters(60, [ntp, 1_500]);
    expect((await newestAttack(tenant)).ended_at).toBe('');
    product.clock.travel(240_000);
    await behindRouters(2, [ntp, 1_500]);
    expect(await measuresOf(tenant)).toEqual(['drop_reflection stands', 'flowspec to_look']);
    expect(await behindRouters(1, [ntp, 1_500])).toBe(1_500);
    // It goes on: they are told again, for longer.
    await behindRouters(5, [ntp, 1_500]);
    expect(await measuresOf(tenant)).toEqual([
      'drop_reflection stands',
      'flowspec to_look',
      'flowspec stands',
    ]);
    product.clock.travel(310_000);
    await behindRouters(2, [ntp, 1_500]);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec stands');
    product.clock.travel(310_000);
    await behindRouters(2);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec to_look');
    expect((await newestAttack(tenant)).ended_at).toBe('');
    await behindRouters(35);
    expect((await newestAttack(tenant)).ended_at).not.toBe('');
    expect(await measuresOf(tenant)).toEqual([
      'drop_reflection attack_over',
      'flowspec to_look',
      'flowspec to_look',
    ]);
    expect(routers.table.pass(ntp)).toBe(true);
    expect(
      await sql(product, 'select 1 from shield_announcements where address = $1::inet', tenant.address),
    ).toEqual([]);
  });

  it('is led to nowhere only where that is allowed, by staff or by its owner, and nothing else helped', async () => {
    tenant = await someone();
    // Routers cannot tell good openings from bad ones: they are told nothing of these.
    const syns = (many: number): [Packet, number] => [packet(tenant.address), many];
    await behindRouters(12, syns(6_000));
    expect(await measuresOf(tenant)).not.toContain('blackhole stands');
    await tenant.patch(`/shield/v2/sensitivity/${tenant.address}`, { blackhole: true });
    await behindRouters(8, syns(6_000));
    expect((await measuresOf(tenant)).at(-1)).toBe('blackhole stands');
    expect(routers.table.pass(packet(tenant.address, { protocol: 17, flags: null }))).toBe(false);
    const path = `/staff/shield/organizations/${tenant.organizationId}`;
    const { body } = await product.staff.patch(path, { blackholes: 'forbidden' });
    expect(body.data.organization).toMatchObject({ blackholes: 'forbidden' });
    await behindRouters(4, syns(6_000));
    expect((await measuresOf(tenant)).at(-1)).toBe('blackhole not_allowed');
    const shown = (await tenant.get(`/shield/v2/sensitivity/${tenant.address}`)).body.data.sensitivity;
    expect(shown).toMatchObject({ blackhole: true, may_blackhole: false });
    await tenant.patch(`/shield/v2/sensitivity/${tenant.address}`, { blackhole: false });
    await product.staff.patch(path, { blackholes: 'allowed' });
    await behindRouters(8, syns(6_000));
    expect((await measuresOf(tenant)).at(-1)).toBe('blackhole stands');
    const activity = `/dashboard/organizations/${tenant.organizationId}/activity?action=shield_organization_changed`;
    expect((await tenant.get(activity)).body.data.activity).toHaveLength(2);
    const { mitigations } = await newestAttack(tenant);
    const { status } = await product.staff.post(`/staff/shield/mitigations/${mitigations.at(-1).id}/release`);
    expect(status).toBe(200);
    await behindRouters(10, syns(6_000));
    expect((await measuresOf(tenant)).at(-1)).toBe('blackhole released_by_staff');
    const asked = `/dashboard/organizations/${tenant.organizationId}/activity?action=shield_mitigation_release_asked`;
    expect((await tenant.get(asked)).body.data.activity).toHaveLength(1);
    await behindRouters(40);
  });

  it('is told to no routers outside of their networks, and withdrawn when a network is theirs no more', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await behindRouters(9, [ntp, 1_500]);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec stands');
    const { prefixes } = (await product.staff.get(`/staff/shield/prefixes?edge_id=${edgeId}`)).body.data;
    const theirs = prefixes.filter(({ network }: { network: string }) => !network.includes(':'));
    for (const { id } of theirs)
      expect((await product.staff.delete(`/staff/shield/prefixes/${id}`)).status).toBe(200);
    await behindRouters(4, [ntp, 1_500]);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec routers_gone');
    expect(routers.table.pass(ntp)).toBe(true);
    await behindRouters(8, [ntp, 1_500]);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec routers_gone');
    for (const { network } of theirs)
      await product.staff.post('/staff/shield/prefixes', { edge_id: edgeId, network });
    await behindRouters(8, [ntp, 1_500]);
    expect((await measuresOf(tenant)).at(-1)).toBe('flowspec stands');
    await behindRouters(1);
    product.clock.travel(310_000);
    await behindRouters(40);
  });
});

describe('routers', () => {
  const concerns = async () => JSON.stringify((await product.staff.get('/staff/attention')).body.data);
  const flowspecOf = async () =>
    (await newestAttack(tenant)).mitigations.find(
      ({ measure }: { measure: string }) => measure === 'flowspec',
    );

  it('that are down are said so with the mitigation and to staff, wait for nobody, and are in force again by themselves', {
    timeout: 120_000,
  }, async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    routers.peers = [
      { ...(routers.peers[0] as (typeof routers.peers)[0]), state: 'connecting', refusals: 3 },
    ];
    await behindRouters(9, [ntp, 1_500]);
    const waiting = await until(
      async () => {
        await product.second([ntp, 1_500]);
        return flowspecOf();
      },
      (each) => each.error !== null,
    );
    expect(waiting).toMatchObject({ in_force: false, error: expect.stringContaining('as soon as they can') });
    expect(await concerns()).toMatch(/192\.0\.2\.254 is connecting, and has broken off 3 times/);
    // What filters here drops it meanwhile.
    expect(await product.second([ntp, 100])).toEqual([0]);
    routers.peers = routers.peers.map((each) => ({ ...each, state: 'established' }));
    await until(
      async () => {
        await product.second([ntp, 1_500]);
        return flowspecOf();
      },
      (each) => each.in_force && each.error === null,
    );
    // gobgpd dies, and comes back with nothing.
    routers.isAway = true;
    await until(readEdge, (edge) => edge.health.error !== null);
    expect(await concerns()).toContain('gobgpd at unix:/run/gobgpd.sock');
    routers.forget();
    expect(routers.table.pass(ntp)).toBe(true);
    routers.isAway = false;
    await until(
      async () => routers.table.pass(ntp),
      (passes) => !passes,
    );
    await until(readEdge, (edge) => edge.health.error === null && edge.health.peers_down_since === null);
    // Each turn is told once, however often it was looked.
    expect(await turns()).toEqual(['well', 'peers', 'well', 'error', 'well']);
    // Whoever is started anew finds all as it is to be, and tells nobody anything.
    const before = await routers.table.list();
    product.restart();
    await behindRouters(3, [ntp, 1_500]);
    expect(await routers.table.list()).toEqual(before);
    product.clock.travel(700_000);
    await behindRouters(40);
  });

  it('are told also while the database does not answer', { timeout: 120_000 }, async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await behindRouters(2, [ntp, 1_500]);
    const holder = new pg.Client({ connectionString: product.databaseUrl });
    await holder.connect();
    await holder.query(
      'begin; lock table shield_attacks, shield_announcements, addresses in access exclusive mode',
    );
    try {
      await product.seconds(6, [ntp, 1_500]);
      await until(
        async () => routers.table.pass(ntp),
        (passes) => !passes,
      );
    } finally {
      await holder.query('rollback');
      await holder.end();
    }
    await until(
      async () => {
        await product.second();
        return newestAttack(tenant);
      },
      (attack) =>
        attack?.mitigations.some(
          (each: { measure: string; in_force: boolean }) => each.measure === 'flowspec' && each.in_force,
        ),
    );
    expect(routers.table.pass(ntp)).toBe(false);
    product.clock.travel(310_000);
    await behindRouters(40);
  });

  it('are told of an address no more when it is given back', async () => {
    tenant = await someone({ mitigation: 'permanent' });
    const ntp = reflected(tenant.address);
    await behindRouters(9, [ntp, 1_500]);
    expect(routers.table.pass(ntp)).toBe(false);
    await tenant.post(`/dashboard/services/${tenant.serviceId}/cancel`, { type: 'immediate' });
    await until(
      async () => routers.table.pass(ntp),
      (passes) => passes,
    );
    await until(
      () => sql(product, 'select 1 from shield_announcements where address = $1::inet', tenant.address),
      (rows) => rows.length === 0,
    );
    await product.seconds(4);
  });

  it('have those rules of customers that fit, as many as staff leaves room for, and the rest is said', {
    timeout: 120_000,
  }, async () => {
    tenant = await newTenant(product);
    const { address } = tenant;
    const made = await tenant.post(rulesPath, dropSsh(address));
    await tenant.post(
      rulesPath,
      dropSsh(address, { order: 200, matches: [{ match: 'ttl', match_type: 'lt', match_value: 5 }] }),
    );
    expect(made.status).toBe(200);
    const ssh = packet(address);
    const rulesThere = async () =>
      (await product.staff.get(`${edgePath()}/rules`)).body.data.rules.find(
        (each: { address: string }) => each.address === address,
      );
    await settled(product);
    expect([routers.table.pass(ssh), await rulesThere()]).toEqual([true, undefined]);
    expect((await product.staff.patch(edgePath(), { rule_routes: 600 })).status).toBe(400);
    await product.staff.patch(edgePath(), { rule_routes: 10 });
    const there = await until(rulesThere, (each) => each !== undefined);
    expect(there).toMatchObject({
      routes: 1,
      error: null,
      left_out: [{ why: expect.stringContaining('TTL') }],
    });
    expect(routers.table.pass(ssh)).toBe(false);
    await tenant.patch(`${rulesPath}/${made.body.data.rule_id}/disable`);
    await until(
      async () => routers.table.pass(ssh),
      (passes) => passes,
    );
    await tenant.patch(`${rulesPath}/${made.body.data.rule_id}/enable`);
    await until(
      async () => routers.table.pass(ssh),
      (passes) => !passes,
    );
    await product.staff.patch(edgePath(), { rule_routes: 0 });
    await until(
      async () => routers.table.pass(ssh),
      (passes) => passes,
    );
    expect(await rulesThere()).toBeUndefined();
  });
});

describe('staff', () => {
  it('sees what stands in front of addresses, and how it is', async () => {
    const { body } = await product.staff.get('/staff/shield/edges');
    expect(
      body.data.edges.map(({ kind, engine }: { kind: string; engine: string }) => [kind, engine]),
    ).toEqual([
      ['node', 'none'],
      ['routers', 'bgp'],
    ]);
    expect(body.data.edges[0].reason).toContain('EDGE is none');
    expect(await readEdge()).toMatchObject({
      served: true,
      routers: { blackholes: true, peers: [{ state: 'established' }] },
    });
    expect((await tenant.get(edgePath())).status).toBe(403);
  });

  it.each([
    ['a community that is none', { communities: ['70000:1'] }],
    ['a next hop of the other family', { next_hop4: '2001:db8::1' }],
    ['a network as a next hop', { next_hop4: '192.0.2.0/24' }],
    ['nodes of routers', { nodes: [1] }],
    ['more rules than half', { most_routes: 10, rule_routes: 6 }],
  ])('is refused %s, and nothing changes', async (_, change) => {
    const before = await readEdge();
    const { status } = await product.staff.patch(edgePath(), change);
    expect(status).toBe(400);
    expect((await readEdge()).routers).toMatchObject({
      ...before.routers,
      peers: expect.anything(),
      routes: expect.anything(),
    });
  });

  it('cannot have routers told of networks that are not ours, nor of one twice, nor take out what is spoken to', async () => {
    const add = (network: string, edge = edgeId) =>
      product.staff.post('/staff/shield/prefixes', { edge_id: edge, network });
    const { edges } = (await product.staff.get('/staff/shield/edges?kind=node')).body.data;
    const { networks } = await pools();
    expect((await add('192.0.2.0/24')).status).toBe(400);
    expect((await add(networks[0] ?? '', edges[0].id)).status).toBe(400);
    expect((await add(networks[0] ?? '')).status).toBe(409);
    expect((await product.staff.delete(edgePath())).status).toBe(409);
    expect((await product.staff.patch(`/staff/shield/edges/${edges[0].id}`, { most_routes: 5 })).status).toBe(
      400,
    );
    expect((await product.staff.patch(edgePath(), { name: edges[0].name })).status).toBe(409);
  });

  it('takes routers out of the list that nobody speaks to any more, once nothing is told them', async () => {
    const [node] = await sql<{ id: number }>(
      product,
      `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at, state)
       values ('gone', 'NOWHERE', 0, 0, 0, now(), 'down') returning id`,
    );
    const [gone] = await sql<{ id: number }>(
      product,
      `insert into shield_edges (node_id, kind, name, engine, capabilities, served, created_at)
       values ($1, 'routers', 'gone', 'bgp', '{}', false, now()) returning id`,
      node?.id,
    );
    const path = `/staff/shield/edges/${gone?.id}`;
    await sql(
      product,
      `insert into shield_announcements (edge_id, address, organization_id, service_id, generation, measure, updated_at)
       values ($1, '203.0.113.7', $2, $3, 1, '{"kind": "blackhole"}', now())`,
      ...[gone?.id, tenant.organizationId, tenant.serviceId],
    );
    expect((await product.staff.delete(path)).body).toMatchObject({ code: 'edge_in_use' });
    await sql(product, 'update shield_announcements set measure = null where edge_id = $1', gone?.id);
    expect((await product.staff.delete(path)).status).toBe(200);
    expect((await product.staff.get(path)).status).toBe(404);
  });

  it('lists all attacks by organization, address, kind and whether they go on', async () => {
    const list = async (query: string) =>
      (await product.staff.get(`/staff/shield/attacks?${query}`)).body.data;
    const all = await list('limit=100');
    expect(all.total).toBeGreaterThan(3);
    const [one] = all.attacks;
    const theirs = await list(`organization_id=${one.organization.id}`);
    expect(
      new Set(theirs.attacks.map((each: { organization: { id: number } }) => each.organization.id)),
    ).toEqual(new Set([one.organization.id]));
    expect((await list(`address=${one.dest.split('/')[0]}`)).attacks[0].dest).toBe(one.dest);
    expect((await list('kind=icmp')).attacks).toEqual([]);
    expect(
      (await list('going=true&limit=100')).attacks.every(
        (each: { ended_at: string }) => each.ended_at === '',
      ),
    ).toBe(true);
    expect((await product.staff.get('/staff/shield/attacks?address=nowhere')).status).toBe(400);
    const { body } = await product.staff.get(`/staff/shield/attacks/${one.attack_id}`);
    expect(body.data.attack).toMatchObject({ attack_id: one.attack_id, organization: one.organization });
    expect((await tenant.get('/staff/shield/attacks')).status).toBe(403);
  });
});

changes.leaveEntries(
  () => product,
  [
    'updateShieldEdge',
    'removeShieldEdge',
    'releaseMitigationAsStaff',
    'addShieldPrefix',
    'removeShieldPrefix',
    'updateShieldOrganization',
  ],
);
