import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settled, sql } from '../../test/sql.ts';
import { ask } from './rawClient.testbed.ts';
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

/**
 * What public clients read, to the letter. Of attacks it stands in `attacks/attacks.test.ts`, of traffic in
 * `analytics/traffic.test.ts`; what they send in `wire.test.ts`.
 */
let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
});
afterAll(() => product.stop());

const largest = 2 ** 31 - 1;
const get = (path: string) => ask(product.url, 'GET', path, { token: tenant.key });
const drop = async (...ids: number[]) => {
  for (const id of ids) await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
};

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  maximum?: number;
  $ref?: string;
}
type Described = { responses: Record<string, { content?: Record<string, { schema: Schema }> }> };

async function described() {
  const document = (await product.nobody.get('/openapi.json')).body as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };
  const follow = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : follow(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.includes('/shield/v2/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => ['get', 'post', 'patch', 'put', 'delete'].includes(method))
        .map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
  return { operations, follow, schemas: document.components.schemas };
}

describe('clients that were written for this API', () => {
  it('get an object as data in every success', async () => {
    const { operations, follow } = await described();
    expect(operations.length).toBeGreaterThan(25);
    for (const { name, operation } of operations) {
      const answer = follow(operation.responses['200']?.content?.['application/json']?.schema ?? {});
      expect(answer.required, name).toEqual(expect.arrayContaining(['success', 'data']));
      expect(follow(answer.properties?.data ?? {}).type, name).toBe('object');
    }
  });

  it('get {} as data after PATCH and DELETE', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const preset = { destination: tenant.address, preset: 'block-rdp' };
    const { group_id: group } = (await tenant.post(`${rulesPath}/presets`, preset)).body.data;
    const answers = [
      await tenant.patch(`${rulesPath}/${id}`, { order: 5 }),
      await tenant.patch(`${rulesPath}/${id}/disable`),
      await tenant.patch(`${rulesPath}/${id}/enable`),
      await tenant.patch('/shield/v2/ips', { address: tenant.address, dns_name: 'web1.example.com' }),
      await tenant.patch('/shield/v2/ips', { address: tenant.address, dns_name: null }),
      await tenant.delete(`${rulesPath}/${id}`),
      await tenant.delete(`${rulesPath}/groups/${group}`),
    ];
    for (const { body } of answers) expect(body).toMatchObject({ success: true, data: {} });
    expect(answers.map(({ body }) => Object.keys(body.data).length)).toEqual(answers.map(() => 0));
  });

  it('get addresses with their names and families, and how many there are', async () => {
    await tenant.patch('/shield/v2/ips', { address: `${tenant.address}/32`, dns_name: 'mail.example.com' });
    const { body } = await get('/shield/v2/ips');
    expect(body).toMatchObject({ success: true, data: { count: 2, pages: 1 } });
    const told = body.data.ips.map((ip: Record<string, unknown>) => [ip.address, ip.dns_name, ip.family]);
    expect(told).toEqual(
      expect.arrayContaining([
        [`${tenant.address}/32`, 'mail.example.com', { value: 4 }],
        [`${tenant.address6}/128`, null, { value: 6 }],
      ]),
    );
  });

  it('find every field of a rule, of its type, and none null but source and note and ports that are not there', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { destination_port: null }));
    const { body, text } = await get(rulesPath);
    expect(body.data).toMatchObject({ page: 0, limit: 25, total: 1 });
    const [rule] = body.data.rules;
    const integers = ['id', 'protocol', 'order', 'matched_packets', 'group_id'];
    for (const field of integers) {
      expect(Number.isInteger(rule[field]), field).toBe(true);
      expect(rule[field] >= 0 && rule[field] <= largest, field).toBe(true);
    }
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    expect(rule).toMatchObject({
      ...{ id, destination: `${tenant.address}/32`, source: null, action: 'deny', note: null, group_id: 0 },
      ...{ disabled: false, src_port_type: null, dst_port_type: null },
      ...{ last_rule_update: iso, updated_at: iso },
    });
    // As it is sent, not as it is read: no fraction and no exponent.
    expect(text).not.toMatch(/":-?\d+(\.\d|[eE])/);
    await drop(id);
  });

  it('find of ports one of five words', async () => {
    const ports: [word: string, sent: object][] = [
      ...['eq', 'neq', 'gt', 'lt'].map((word): [string, object] => [
        word,
        { match_type: word, match_value: [1_024] },
      ]),
      ['range', { match_type: 'range', range: { start: 1, end: 2 } }],
    ];
    for (const [word, port] of ports) {
      const id = await ruleInForce(tenant, {
        ...dropSsh(tenant.address),
        source_port: port,
        destination_port: port,
      });
      const [rule] = (await get(rulesPath)).body.data.rules;
      expect([rule.src_port_type, rule.dst_port_type]).toEqual([word, word]);
      await drop(id);
    }
  });

  it('find counts that stop at 2147483647, and exact ones beside them', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    await sql(
      product,
      `insert into shield_counts (rule_id, writing, packets, bytes, dropped_packets, dropped_bytes)
       values ($1, '', 5000000000, 7, 0, 0)
       on conflict (rule_id, writing) do update set packets = excluded.packets, bytes = excluded.bytes`,
      id,
    );
    const [rule] = (await get(rulesPath)).body.data.rules;
    expect(rule).toMatchObject({ matched_packets: largest, counters: { packets: 5_000_000_000 } });
    await drop(id);
  });

  it('are promised ids and numbers within 31 bits, and moments that are there', async () => {
    const { follow, schemas } = await described();
    const fields: Record<string, string[]> = {
      ShieldRule: ['id', 'matched_packets', 'group_id', 'rate_limiter_id'],
      ShieldGroup: ['id'],
      ShieldRateLimiter: ['id'],
      ShieldApply: ['id'],
      ShieldAttack: ['duration', 'mbps', 'pps', 'volume'],
    };
    for (const [name, numbers] of Object.entries(fields))
      for (const field of numbers) {
        const schema = follow(schemas[name]?.properties?.[field] ?? {});
        expect([schema.type, schema.maximum], `${name}.${field}`).toEqual(['integer', largest]);
      }
    const rule = schemas.ShieldRule ?? {};
    const wire = ['id', 'destination', 'source', 'action', 'protocol', 'order', 'note', 'disabled'];
    wire.push(
      'src_port_type',
      'dst_port_type',
      'matched_packets',
      'group_id',
      'last_rule_update',
      'updated_at',
    );
    expect(rule.required).toEqual(expect.arrayContaining(wire));
    for (const field of ['last_rule_update', 'updated_at'])
      expect(follow(rule.properties?.[field] ?? {}).type, field).toBe('string');
  });

  it('find in a rule the group that it is of, and 0 without', async () => {
    const alone = await ruleInForce(tenant, dropSsh(tenant.address, { order: 1 }));
    const preset = { destination: tenant.address, preset: 'block-rdp' };
    const { group_id: group, rule_ids } = (await tenant.post(`${rulesPath}/presets`, preset)).body.data;
    for (const id of rule_ids) await enforced(tenant, id);
    const { rules } = (await get(rulesPath)).body.data;
    expect(rules.map((rule: { id: number; group_id: number }) => [rule.id, rule.group_id])).toEqual([
      [alone, 0],
      ...rule_ids.map((id: number) => [id, group]),
    ]);
    expect(group > 0 && group <= largest).toBe(true);
    await tenant.delete(`${rulesPath}/groups/${group}`);
    await drop(alone);
  });

  it('see what packets a rule has met', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    for (let nth = 0; nth < 4; nth += 1) product.edge.pass(packet(tenant.address));
    const counted = async () => (await get(rulesPath)).body.data.rules[0].matched_packets;
    await expect.poll(counted, { timeout: 30_000 }).toBe(4);
    await drop(id);
  });
});
