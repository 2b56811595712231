import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMember } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from './testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product), await newTenant(product)];
});
afterAll(() => product.stop());

describe('a rule', () => {
  it('is what packets meet, and says so, from a moment after it was asked for', async () => {
    const other = packet(tenant.address, { ports: { source: 40_000, destination: 80 } });
    expect(product.edge.pass(packet(tenant.address))).toBe(true);
    const { status, body } = await tenant.post(rulesPath, dropSsh(tenant.address, { note: 'no SSH' }));
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, data: {} } });
    const id = body.data.rule_id;
    expect(id).toBeLessThanOrEqual(2 ** 31 - 1);
    const rule = await enforced(tenant, id);
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
    expect(product.edge.pass(other)).toBe(true);
    expect(rule).toMatchObject({
      ...{ id, destination: `${tenant.address}/32`, source: null, action: 'deny', protocol: 6, order: 100 },
      ...{ note: 'no SSH', disabled: false, src_port_type: null, dst_port_type: 'eq', group_id: 0 },
      destination_port: { match_type: 'eq', match_value: [22] },
      enforced: {
        active: true,
        generation: expect.any(Number),
        since: expect.stringMatching(/T/),
        error: null,
      },
    });
    for (const moment of [rule.last_rule_update, rule.updated_at])
      expect(moment).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect((await tenant.delete(`${rulesPath}/${id}`)).body).toEqual({ success: true, data: {} });
    await until(
      async () => product.edge.pass(packet(tenant.address)),
      (passes) => passes,
    );
  });

  it.each([
    ['::192.0.2.1', '::192.0.2.1/128', '::192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1/128', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.0/120', '64:ff9b::c000:200/120', '64:ff9b::192.0.2.77'],
    ['2001:DB8:0::1', '2001:db8::1/128', '2001:db8::1'],
  ])('whose source is written as %s is about just that one', async (source, shown, from) => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address6, { source }));
    expect((await tenant.get(`${rulesPath}/${id}`)).body.data.rule.source).toBe(shown);
    const others = ['::192.0.2.1', '::ffff:192.0.2.1', '64:ff9b::192.0.2.77', '2001:db8::1'];
    const dropped = others.filter((each) => !product.edge.pass(packet(tenant.address6, { source: each })));
    expect(dropped).toEqual([from]);
    await tenant.delete(`${rulesPath}/${id}`);
    await settled(product);
  });

  it('is changed, switched off and on by PATCH and POST, and packets follow', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const change = await tenant.patch(`${rulesPath}/${id}`, {
      destination_port: { match_type: 'range', range: { start: 8000, end: 8999 } },
    });
    expect(change.body).toMatchObject({ success: true, data: {}, warnings: [] });
    expect(await enforced(tenant, id)).toMatchObject({ order: 100, action: 'deny', dst_port_type: 'range' });
    const high = packet(tenant.address, { ports: { source: 1, destination: 8443 } });
    expect([product.edge.pass(packet(tenant.address)), product.edge.pass(high)]).toEqual([true, false]);
    for (const method of ['PATCH', 'POST'] as const) {
      expect((await tenant.request(method, `${rulesPath}/${id}/disable`)).body).toMatchObject({ data: {} });
      expect(await enforced(tenant, id, false)).toMatchObject({ disabled: true });
      expect(product.edge.pass(high)).toBe(true);
      expect((await tenant.request(method, `${rulesPath}/${id}/enable`)).body).toMatchObject({ data: {} });
      expect(await enforced(tenant, id)).toMatchObject({ disabled: false });
      expect(product.edge.pass(high)).toBe(false);
    }
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('counts each packet once over all that becomes of it, also above 31 bits', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const send = (times: number) => {
      for (let nth = 0; nth < times; nth += 1) product.edge.pass(packet(tenant.address));
    };
    send(5);
    await tenant.patch(`${rulesPath}/${id}`, { order: 101 });
    await enforced(tenant, id);
    send(3);
    await tenant.patch(`${rulesPath}/${id}`, { order: 102 });
    await enforced(tenant, id);
    const counted = await until(
      () => tenant.get(`${rulesPath}/${id}`),
      ({ body }) => body.data.rule.counters.packets >= 8,
    );
    expect(counted.body.data.rule).toMatchObject({
      matched_packets: 8,
      counters: { packets: 8, bytes: 480 },
    });
    await sql(
      product,
      `insert into shield_counts as c (rule_id, writing, packets, bytes, dropped_packets, dropped_bytes)
       values ($1, '', 5000000000, 0, 0, 0)
       on conflict (rule_id, writing) do update set packets = c.packets + excluded.packets`,
      id,
    );
    const { body } = await tenant.get(`${rulesPath}/${id}`);
    expect(body.data.rule).toMatchObject({
      matched_packets: 2_147_483_647,
      counters: { packets: 5_000_000_008 },
    });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('comes in the order that it says, and of the same order the older one first', async () => {
    const late = await ruleInForce(tenant, dropSsh(tenant.address, { order: 10 }));
    const permit = { ...dropSsh(tenant.address, { order: 10 }), action: 'permit' };
    const second = await ruleInForce(tenant, permit);
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
    await tenant.patch(`${rulesPath}/${second}`, { order: 9 });
    await enforced(tenant, second);
    expect(product.edge.pass(packet(tenant.address))).toBe(true);
    for (const id of [late, second]) await tenant.delete(`${rulesPath}/${id}`);
  });

  it('is for IPv6 as well, and 1 is ICMPv6 there', async () => {
    const id = await ruleInForce(tenant, {
      ...{ destination: tenant.address6, action: 'deny', protocol: 1, order: 0 },
    });
    const ping = packet(tenant.address6, { protocol: 58, ports: null, flags: null });
    expect(product.edge.pass(ping)).toBe(false);
    expect(product.edge.pass(packet(tenant.address6))).toBe(true);
    expect((await tenant.get(`${rulesPath}/${id}`)).body.data.rule).toMatchObject({
      ...{ protocol: 1, destination: `${tenant.address6}/128` },
    });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('is about packets of a length, with their headers', async () => {
    const length = { match: 'length', match_type: 'range', range: { start: 100, end: 200 } };
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { matches: [length] }));
    const passes = [99, 100, 200, 201].map((bytes) =>
      product.edge.pass(packet(tenant.address, { length: bytes })),
    );
    expect(passes).toEqual([true, false, false, true]);
    const asked = { source: '198.51.100.9', destination: tenant.address, protocol: 6, destination_port: 22 };
    const { body } = await tenant.post(`${rulesPath}/explain`, { ...asked, length: 99 });
    expect(body.data.way).toEqual([{ rule_id: id, action: 'deny', matches: false, unmet: ['length'] }]);
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('is over when its time is, and is switched off then', async () => {
    const expires = new Date(product.clock.now().getTime() + 3_600_000).toISOString();
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { expires_at: expires }));
    product.clock.travel(3_601_000);
    await product.periodic('shield.expireRules');
    expect(await enforced(tenant, id, false)).toMatchObject({ disabled: true, expires_at: expires });
    expect(product.edge.pass(packet(tenant.address))).toBe(true);
    await tenant.post(`${rulesPath}/${id}/enable`);
    expect(await enforced(tenant, id)).toMatchObject({ disabled: false, expires_at: null });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('is on again when it is switched on in the moment in which its time was over', async () => {
    const expires = new Date(product.clock.now().getTime() + 60_000).toISOString();
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { expires_at: expires }));
    product.clock.travel(61_000);
    await tenant.post(`${rulesPath}/${id}/enable`);
    await product.periodic('shield.expireRules');
    expect(await enforced(tenant, id)).toMatchObject({ disabled: false, expires_at: null });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('replaces the one that its id names, and is refused for one that is not the caller’s or not there', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const again = await tenant.post(rulesPath, { ...dropSsh(tenant.address, { order: 7 }), id });
    expect(again.body.data).toEqual({ rule_id: id });
    expect(await enforced(tenant, id)).toMatchObject({ order: 7 });
    const foreign = await stranger.post(rulesPath, { ...dropSsh(stranger.address), id });
    expect(foreign.status).toBe(403);
    const absent = await tenant.post(rulesPath, { ...dropSsh(tenant.address), id: 4242 });
    expect(absent.status).toBe(404);
    expect((await tenant.get(`${rulesPath}/${id}`)).body.data.rule.order).toBe(7);
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('is not made a 201st time for an address, unless another one is switched off', async () => {
    const full = await newTenant(product);
    const rules = Array.from({ length: 200 }, (_, order) => dropSsh(full.address, { order }));
    expect((await full.post(`${rulesPath}/apply`, { rules, force: true })).status).toBe(200);
    const refused = await full.post(rulesPath, dropSsh(full.address, { order: 200 }));
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'too_many' });
    const { body } = await full.get(`${rulesPath}?limit=1`);
    expect(body.data.total).toBe(200);
    await full.post(`${rulesPath}/${body.data.rules[0].id}/disable`);
    expect((await full.post(rulesPath, dropSsh(full.address, { order: 200 }))).status).toBe(200);
  });

  it('is written into the journal, with who did it', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    await tenant.patch(`${rulesPath}/${id}`, { order: 5 });
    await tenant.post(`${rulesPath}/${id}/disable`);
    await tenant.post(`${rulesPath}/${id}/enable`);
    await tenant.delete(`${rulesPath}/${id}`);
    const rows = await sql<{ action: string; user_id: number }>(
      product,
      `select action, user_id from journal where subject_type = 'shield_rule' and subject_id = $1 order by id`,
      id,
    );
    expect(rows.map(({ action }) => action)).toEqual([
      ...['shield.rule.created', 'shield.rule.changed', 'shield.rule.disabled', 'shield.rule.enabled'],
      'shield.rule.deleted',
    ]);
    expect(new Set(rows.map((row) => Number(row.user_id)))).toEqual(new Set([tenant.userId]));
  });
});

describe('rules are refused, and nothing changes,', () => {
  const bad: [string, number, (own: Tenant) => Record<string, unknown>][] = [
    [
      'for a network wider than what is owned',
      403,
      ({ address }) => dropSsh(`${address.replace(/\d+$/, '0')}/24`),
    ],
    ['for everything', 403, () => dropSsh('0.0.0.0/0')],
    ['with host bits', 400, ({ address }) => dropSsh(`${address.replace(/\d+$/, '3')}/24`)],
    ['for no address', 400, () => dropSsh('example.com')],
    ['with a protocol that is none of ours', 400, ({ address }) => dropSsh(address, { protocol: 132 })],
    [
      'with a port beyond the last',
      400,
      ({ address }) => dropSsh(address, { source_port: { match_type: 'eq', match_value: [65_536] } }),
    ],
    ['with an order beyond the last', 400, ({ address }) => dropSsh(address, { order: 10_001 })],
    ['without an order', 400, ({ address }) => dropSsh(address, { order: null })],
    [
      'with a limiter that is not there',
      404,
      ({ address }) => ({ ...dropSsh(address), action: 'permit', rate_limiter_id: 4242 }),
    ],
  ];

  it.each(bad)('%s', async (_, status, body) => {
    await settled(product);
    const before = await contents(product);
    const answer = await tenant.post(rulesPath, body(tenant));
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it('by who may only look, and by keys that are not for shield', async () => {
    const viewer = await newMember(product, tenant.organizationId, 'viewer');
    expect((await viewer.get(rulesPath)).status).toBe(200);
    expect((await viewer.post(rulesPath, dropSsh(tenant.address))).status).toBe(403);
    const helper = await newMember(product, tenant.organizationId, 'technical');
    await sql(product, 'update api_keys set shield = false where user_id = $1', helper.userId);
    expect((await helper.get(rulesPath)).status).toBe(403);
  });
});
