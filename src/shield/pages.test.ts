/** What pages need of Shield besides what its public clients ask for: one address in one answer, news, and what is found. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMember } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
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

const shield = '/shield/v2';
const applyPath = `${rulesPath}/apply`;

async function address(of: Tenant = tenant, ip = of.address) {
  const { status, body } = await of.get(`${shield}/ips/${encodeURIComponent(ip)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

const ids = (rules: { id: number }[]) => rules.map(({ id }) => id);

async function clear() {
  await tenant.post(applyPath, { rules: [], destinations: [tenant.address] });
  await settled(product);
}

describe('an address', () => {
  it('is one answer: its rules in their order, what presets made, what it is and how it stands', async () => {
    const last = await ruleInForce(tenant, dropSsh(tenant.address, { order: 900 }));
    const first = await ruleInForce(tenant, dropSsh(tenant.address, { order: 1, protocol: 17 }));
    await ruleInForce(tenant, dropSsh(tenant.address6));
    const preset = { destination: tenant.address, preset: 'block-rdp' };
    const { group_id, rule_ids } = (await tenant.post(`${rulesPath}/presets`, preset)).body.data;
    await settled(product);
    const found = await address();
    expect(ids(found.rules)).toEqual([first, ...rule_ids, last]);
    expect(found).toMatchObject({
      ip: {
        ...{ address: `${tenant.address}/32`, service_id: tenant.serviceId, rules: 4, unmatched: 'permit' },
        shield: { enabled: true, under_attack: false },
      },
      groups: [{ id: group_id, preset: 'block-rdp' }],
      ...{ trial: null, attack: null },
    });
    expect(found.ip.recent.packets).toHaveLength(30);
    const { ips } = (await tenant.get(`${shield}/ips`)).body.data;
    expect(ips.find((ip: { address: string }) => ip.address === found.ip.address)).toEqual(found.ip);
    await clear();
  });

  it('is refused to others, absent or foreign alike, and when it is no single address', async () => {
    for (const ip of [tenant.address, '192.0.2.77'])
      expect((await stranger.get(`${shield}/ips/${ip}`)).status).toBe(403);
    for (const ip of ['nonsense', encodeURIComponent('203.0.113.0/24')])
      expect((await tenant.get(`${shield}/ips/${ip}`)).status).toBe(400);
  });

  it('shows what came in the last thirty minutes, and what of it was dropped', async () => {
    const minute = Math.floor(product.clock.now().getTime() / 60_000) * 60_000;
    for (const [ago, packets, dropped] of [
      [1, 600, 200],
      [30, 7, 0],
      [31, 5, 5],
    ] as const)
      await sql(
        product,
        `insert into shield_traffic_minutes (part, address, time, organization_id, packets, bytes, dropped_packets, dropped_bytes)
         select 0, $1, $2, organization_id, $3, 0, $4, 0 from addresses where address = $1`,
        tenant.address,
        new Date(minute - ago * 60_000),
        packets,
        dropped,
      );
    const { packets, dropped } = (await address()).ip.recent;
    expect([packets[0], packets[29], dropped[29]]).toEqual([7, 600, 200]);
    expect(packets.slice(1, 29)).toEqual(Array.from({ length: 28 }, () => 0));
  });

  it('says what is tried out, and for how long', async () => {
    const { body } = await tenant.post(applyPath, { rules: [dropSsh(tenant.address)], confirm_within_s: 60 });
    const { trial } = await address();
    expect(trial).toMatchObject({ id: body.data.apply_id, state: 'trying' });
    expect(trial.seconds_left).toBeGreaterThan(50);
    product.clock.travel(61_000);
    expect((await address()).trial).toBeNull();
  });
});

describe('all rules as one', () => {
  const passes = (change = {}) => product.edge.pass(packet(tenant.address, change));

  it('are tried in their order, whatever order they are sent in, without those that are off', async () => {
    const { body } = await tenant.post(applyPath, {
      rules: [
        { ...dropSsh(tenant.address, { order: 50, note: 'later' }) },
        { ...dropSsh(tenant.address, { order: 10, action: 'permit' }) },
        { ...dropSsh(tenant.address, { order: 5, note: 'off' }), disabled: true },
      ],
      confirm_within_s: 60,
    });
    const id = body.data.apply_id;
    await until(
      () => tenant.get(`${applyPath}/${id}`),
      ({ body: { data } }) => data.apply.enforced.active,
    );
    expect(passes()).toBe(true);
    expect((await tenant.post(`${applyPath}/${id}/confirm`)).status).toBe(200);
    await settled(product);
    const { rules } = await address();
    expect(
      rules.map(({ note, disabled }: { note: string | null; disabled: boolean }) => [note, disabled]),
    ).toEqual([
      ['off', true],
      [null, false],
      ['later', false],
    ]);
    expect(passes()).toBe(true);
    await clear();
  });

  it('leave a rule off that was off, and switch it on where they say so', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    await tenant.patch(`${rulesPath}/${id}/disable`);
    const same = { ...dropSsh(tenant.address), id };
    await tenant.post(applyPath, { rules: [same] });
    await settled(product);
    expect([(await address()).rules[0].disabled, passes()]).toEqual([true, true]);
    await tenant.post(applyPath, { rules: [{ ...same, disabled: false }], force: true });
    expect((await enforced(tenant, id)).disabled).toBe(false);
    expect(passes()).toBe(false);
    await clear();
  });

  it('leave rules for wider networks as they are where they say so, and are refused otherwise', async () => {
    const { owner, low, high } = await twoInOneNetwork();
    const wide = await ruleInForce(owner, dropSsh(`${low}/31`, { order: 40 }));
    const narrow = dropSsh(low, { order: 10, action: 'permit' });
    const refused = await owner.post(applyPath, { rules: [narrow] });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'destinations']);
    const named = await owner.post(applyPath, { rules: [{ ...narrow, id: wide }], keep_wider: true });
    expect([named.status, named.body.details[0].field]).toEqual([400, 'rules[0].id']);
    const { status, body } = await owner.post(applyPath, {
      rules: [narrow],
      ...{ keep_wider: true, confirm_within_s: 60 },
    });
    expect([status, body.data.rule_ids.length]).toEqual([200, 1]);
    await until(
      () => owner.get(`${applyPath}/${body.data.apply_id}`),
      ({ body: { data } }) => data.apply.enforced.active,
    );
    const both = () => [low, high].map((each) => product.edge.pass(packet(each)));
    expect(both()).toEqual([true, false]);
    await owner.post(`${applyPath}/${body.data.apply_id}/confirm`);
    await settled(product);
    expect(ids((await address(owner, low)).rules)).toEqual([...body.data.rule_ids, wide]);
    expect(both()).toEqual([true, false]);
    expect((await enforced(owner, wide)).enforced.active).toBe(true);
  });

  /** Two addresses of one machine that are a network of their own. */
  async function twoInOneNetwork(): Promise<{ owner: Tenant; low: string; high: string }> {
    for (let tries = 0; tries < 4; tries += 1) {
      const owner = await newTenant(product, { option4: 2 });
      const { ips } = (await owner.get(`${shield}/ips`)).body.data;
      const found = ips.flatMap(({ address: each }: { address: string }) => each.replace(/\/32$/, ''));
      for (const each of found) {
        const [, start = '', last = ''] = /^(.*\.)(\d+)$/.exec(each) ?? [];
        const next = `${start}${Number(last) + 1}`;
        if (last !== '' && Number(last) % 2 === 0 && found.includes(next))
          return { owner, low: each, high: next };
      }
    }
    throw new Error('no machine has two addresses beside each other');
  }
});

describe('a confirmation over a new connection', () => {
  it('is taken over none that was open before the rules were in force, which ends with that answer', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { token: tenant.key, 'content-type': 'application/json' };
    const ask = async (path: string, method = 'GET', body?: object) => {
      const asked = request(`${product.url}/api${path}`, { agent, method, headers });
      asked.end(body && JSON.stringify(body));
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return { answer, body: (await json(answer)) as { code?: string } };
    };
    await ask(`${shield}/ips`);
    const { body } = await tenant.post(applyPath, { rules: [dropSsh(tenant.address)], confirm_within_s: 60 });
    const path = `${applyPath}/${body.data.apply_id}`;
    await until(
      () => tenant.get(path),
      ({ body: { data } }) => data.apply.enforced.active,
    );
    const fresh = { new_connection: true };
    const first = await ask(`${path}/confirm`, 'POST', fresh);
    expect([first.answer.statusCode, first.body.code, first.answer.headers.connection]).toEqual([
      ...[409, 'connection_too_old', 'close'],
    ]);
    expect((await tenant.get(path)).body.data.apply.state).toBe('trying');
    expect((await ask(`${path}/confirm`, 'POST', fresh)).answer.statusCode).toBe(200);
    expect((await tenant.get(path)).body.data.apply.state).toBe('confirmed');
    agent.destroy();
  });
});

describe('who finds', () => {
  it('looks for addresses by how they begin, and for rules by their notes, of their own organization', async () => {
    await tenant.patch(`${shield}/ips`, { address: tenant.address, dns_name: 'Mine.example.org' });
    const rule = await ruleInForce(tenant, dropSsh(tenant.address, { note: 'Nobody from the Zeppelin' }));
    const found = async (who: Tenant, q: string) =>
      (await who.get(`/dashboard/search?q=${encodeURIComponent(q)}`)).body.data.found.map(
        ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`,
      );
    for (const q of [tenant.address, tenant.address.slice(0, -1), 'mine.exam'])
      expect([q, await found(tenant, q)]).toEqual([q, expect.arrayContaining([`address ${tenant.address}`])]);
    expect(await found(tenant, 'zeppelin')).toEqual([`shield_rule ${rule}`]);
    for (const q of [tenant.address, 'mine.exam', 'zeppelin'])
      expect(
        (await found(stranger, q)).filter((each: string) => /^(address|shield_rule) /.test(each)),
      ).toEqual([]);
  });
});

describe('what needs somebody', () => {
  it('is an attack that goes on and rules that are tried out, for who may see them', async () => {
    const needs = async (who: Pick<Tenant, 'get'>) =>
      (await who.get('/dashboard/attention')).body.data.needs.filter(({ kind }: { kind: string }) =>
        kind.startsWith('shield.'),
      );
    expect(await needs(tenant)).toEqual([]);
    await tenant.post(applyPath, { rules: [dropSsh(tenant.address)], confirm_within_s: 60 });
    const attackId = 4_611_686_018_427;
    await sql(
      product,
      `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, of, ratio, readings, started_at,
         last_over_at, peak_pps, peak_mbps, packets, bytes, ports, counted, created_at, updated_at)
       select $1, organization_id, service_id, address, (select min(id) from nodes), 'reflection', 53, 1, 2, $3, $3, 1, 1, 1, 1,
         '{}', '{}', $3, $3 from addresses where address = $2`,
      attackId,
      tenant.address,
      product.clock.now(),
    );
    expect(await needs(tenant)).toEqual([
      {
        ...{ kind: 'shield.attack', id: String(attackId), title: tenant.address },
        ...{ detail: 'DNS reflection', on: null },
      },
      { kind: 'shield.trial', id: tenant.address, title: tenant.address, detail: null, on: null },
    ]);
    const attack = (await address()).attack;
    expect(attack).toMatchObject({ attack_id: String(attackId), ended_at: '' });
    const billing = await newMember(product, tenant.organizationId, 'billing');
    expect(await needs(billing)).toEqual([]);
    await sql(
      product,
      'update shield_attacks set ended_at = started_at, closed_at = started_at where id = $1',
      attackId,
    );
    product.clock.travel(61_000);
    expect(await needs(tenant)).toEqual([]);
    const { attacks } = (await tenant.get(`${shield}/attacks?ip=${tenant.address}`)).body.data;
    expect(attacks).toHaveLength(1);
    expect((await tenant.get(`${shield}/attacks?ip=${tenant.address6}`)).body.data.attacks).toEqual([]);
  });
});

describe('who looks at the pages of a machine', () => {
  it('is told when something was put in force or counted, and strangers are refused', async () => {
    const other = await fetch(`${product.url}/api/dashboard/events?watch=shield:${tenant.serviceId}`, {
      headers: { token: stranger.key, 'x-organization-id': String(stranger.organizationId) },
    });
    expect(other.status).toBe(403);
    const end = new AbortController();
    const answer = await fetch(`${product.url}/api/dashboard/events?watch=shield:${tenant.serviceId}`, {
      headers: { token: tenant.key, 'x-organization-id': String(tenant.organizationId) },
      signal: end.signal,
    });
    let heard = '';
    const reading = (async () => {
      const text = new TextDecoder();
      for await (const part of answer.body ?? []) heard += text.decode(part, { stream: true });
    })().catch(() => undefined);
    const seen = () => heard.split('event: shield.seen').length - 1;
    await expect.poll(seen).toBeGreaterThan(0);
    const before = seen();
    const rule = await ruleInForce(tenant, dropSsh(tenant.address, { order: 2 }));
    await expect.poll(seen).toBeGreaterThan(before);
    // What is counted is told, too.
    await settled(product);
    const quiet = seen();
    product.edge.pass(packet(tenant.address));
    await until(
      () => tenant.get(`${rulesPath}/${rule}`),
      ({ body }) => body.data.rule.counters.packets > 0,
    );
    await expect.poll(seen).toBeGreaterThan(quiet);
    expect(heard).toContain('event: shield.rule.created');
    end.abort();
    await reading;
  });
});
