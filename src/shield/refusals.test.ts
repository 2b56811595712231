import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
import {
  dropSsh,
  newTenant,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from './testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
/** Of a machine that is gone. */
let resting: string;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product), await newTenant(product)];
  const leaving = await newTenant(product);
  resting = leaving.address;
  await leaving.post(`/dashboard/services/${leaving.serviceId}/cancel`, { type: 'immediate' });
  await until(
    () => sql<{ state: string }>(product, 'select state from addresses where address = $1::inet', resting),
    ([row]) => row?.state === 'resting',
  );
  await settled(product);
});
afterAll(() => product.stop());

const applyPath = `${rulesPath}/apply`;

/** Everything that names an address, by where it names it. */
const naming: Record<string, (address: string) => [method: string, path: string, body?: unknown]> = {
  'the destination of a rule': (address) => ['POST', rulesPath, dropSsh(address)],
  'the destination of a group': (address) => [
    'POST',
    `${rulesPath}/presets`,
    { destination: address, preset: 'block-ssh' },
  ],
  'a rule to apply': (address) => ['POST', applyPath, { rules: [dropSsh(tenant.address), dropSsh(address)] }],
  'a rule to try out': (address) => ['POST', applyPath, { rules: [dropSsh(address)], confirm_within_s: 60 }],
  'what is to have no others': (address) => [
    'POST',
    applyPath,
    { rules: [dropSsh(tenant.address)], destinations: [address] },
  ],
  'a packet to explain': (address) => [
    'POST',
    `${rulesPath}/explain`,
    { source: '198.51.100.9', destination: address, protocol: 17 },
  ],
  'traffic to read': (address) => ['GET', `/shield/v2/analytics/traffic?ip=${address}`],
  'a sensitivity to read': (address) => ['GET', `/shield/v2/sensitivity/${address}`],
  'a sensitivity to change': (address) => ['PATCH', `/shield/v2/sensitivity/${address}`, { level: 'off' }],
  'an address to change': (address) => ['PATCH', '/shield/v2/ips', { address, unmatched: 'deny' }],
};

describe('an address that is not the caller’s', () => {
  it.each(Object.keys(naming))('is refused as %s, whoever has it, and nothing changes', async (where) => {
    const before = await contents(product);
    const asked = naming[where];
    const answers = [];
    for (const address of [stranger.address, '203.0.113.77', resting]) {
      const { status, body } = await tenant.request(...(asked?.(address) ?? ['GET', '/']));
      answers.push([status, { ...body, request_id: '' }]);
    }
    // Another's, nobody's and one that rests: nobody learns which it is.
    expect(answers[0]).toMatchObject([403, { success: false, code: 'forbidden' }]);
    expect(answers.slice(1)).toEqual([answers[0], answers[0]]);
    expect(await contents(product)).toEqual(before);
  });

  it('is refused where a rule of the caller’s would move to it, and the rule stays as it was', async () => {
    const { rule_id: id } = (await tenant.post(rulesPath, dropSsh(tenant.address))).body.data;
    await settled(product);
    const before = await contents(product);
    for (const destination of [stranger.address, resting, '203.0.113.77']) {
      const change = await tenant.patch(`${rulesPath}/${id}`, { destination });
      const replaced = await tenant.post(rulesPath, { ...dropSsh(destination), id });
      expect([change.status, replaced.status]).toEqual([403, 403]);
    }
    expect(await contents(product)).toEqual(before);
    await tenant.delete(`${rulesPath}/${id}`);
  });
});

describe('a rule that cannot be', () => {
  const port = (field: 'source_port' | 'destination_port', value: unknown) => ({ [field]: value });
  const match = (value: object) => ({ matches: [value] });
  const bad: [why: string, change: Record<string, unknown>, field: string][] = [
    ['ports of ICMP', { protocol: 1 }, 'destination_port'],
    ['ports of IP in IP', { protocol: 4 }, 'destination_port'],
    ['ports of GRE', { protocol: 47 }, 'destination_port'],
    ['ports of ESP', { protocol: 50 }, 'destination_port'],
    [
      'a range of ports that runs backwards',
      port('source_port', { match_type: 'range', range: { start: 9, end: 8 } }),
      'source_port.range',
    ],
    [
      'a range of values that runs backwards',
      match({ match: 'ttl', match_type: 'range', range: { start: 9, end: 8 } }),
      'matches[0].range',
    ],
    [
      'a range beyond the last port',
      port('source_port', { match_type: 'range', range: { start: 9, end: 65_536 } }),
      'source_port.range',
    ],
    ['no ports', port('source_port', { match_type: 'eq', match_value: [] }), 'source_port.match_value'],
    ['half a port', port('source_port', { match_type: 'eq', match_value: [1.5] }), 'source_port.match_value'],
    ['ports below the first', port('source_port', { match_type: 'lt', match_value: [0] }), 'source_port'],
    [
      'ports that are above two',
      port('source_port', { match_type: 'gt', match_value: [1, 2] }),
      'source_port.match_value',
    ],
    ...[
      ['dscp', 64],
      ['ecn', 4],
      ['ttl', 256],
      ['proto', 256],
      ['length', 65_576],
      ['ttl', -1],
      ['ttl', 1.5],
      ['ttl', '5 accept'],
    ].map(([name, value]): [string, Record<string, unknown>, string] => [
      `${name} of ${value}`,
      match({ match: name, match_type: 'eq', match_value: value }),
      'matches[0].match_value',
    ]),
    ['a TTL above the largest', match({ match: 'ttl', match_type: 'gt', match_value: 255 }), 'matches[0]'],
    ['another protocol', match({ match: 'proto', match_type: 'eq', match_value: 17 }), 'matches'],
    [
      'a flag that is half set',
      match({ match: 'syn', match_type: 'eq', match_value: 2 }),
      'matches[0].match_value',
    ],
    [
      'a flag above another',
      match({ match: 'syn', match_type: 'gt', match_value: true }),
      'matches[0].match_type',
    ],
    [
      'a flag of UDP',
      { protocol: 17, ...match({ match: 'syn', match_type: 'eq', match_value: true }) },
      'matches[0]',
    ],
    [
      'a flag twice',
      {
        matches: [true, false].map((value) => ({ match: 'syn', match_type: 'eq', match_value: value })),
      },
      'matches[1]',
    ],
    ...['"', "'", '`', '\n', '\r', '\u2028', ';', '{', '}', '\\', '$', '\0'].map(
      (sign): [string, Record<string, unknown>, string] => [
        `a note with ${JSON.stringify(sign)}`,
        { note: `one${sign}two` },
        'note',
      ],
    ),
    ...['flush ruleset', 'add rule inet x y drop', 'Delete  table ip x', 'nft'].map(
      (words): [string, Record<string, unknown>, string] => [`a note of ${words}`, { note: words }, 'note'],
    ),
    ['a source of another family', { source: '2001:db8::/32' }, 'source'],
    ['a source with host bits', { source: '198.51.100.1/24' }, 'source'],
    ['a source with nft’s words', { source: '198.51.100.1 accept' }, 'source'],
    ['a limiter of what is dropped', { rate_limiter_id: 1 }, 'rate_limiter_id'],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['an end on no day', { expires_at: '2036-02-31T25:00:00Z' }, 'expires_at'],
  ];

  it.each(bad)(
    'is refused with %s as it is made, changed and applied, and nothing changes',
    async (_, change, field) => {
      const { rule_id: id } = (await tenant.post(rulesPath, dropSsh(tenant.address))).body.data;
      await settled(product);
      const before = await contents(product);
      const rule = { ...dropSsh(tenant.address), ...change };
      const answers = [
        await tenant.post(rulesPath, rule),
        await tenant.patch(`${rulesPath}/${id}`, change),
        await tenant.post(applyPath, { rules: [rule], confirm_within_s: 60 }),
      ];
      const told = answers.map(({ status, body }) => [status, body.details?.[0]?.field]);
      expect(told).toEqual([
        [400, field],
        [400, field],
        [400, `rules[0].${field}`],
      ]);
      expect(await contents(product)).toEqual(before);
      await tenant.delete(`${rulesPath}/${id}`);
    },
  );

  it.each([
    [1, 400],
    [3_601, 400],
    [86_400, 400],
    [10.5, 400],
  ])('is not tried out for %s seconds, and nothing changes', async (confirm_within_s, status) => {
    await settled(product);
    const before = await contents(product);
    const rules = [dropSsh(tenant.address)];
    expect((await tenant.post(applyPath, { rules, confirm_within_s })).status).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it('is not made beyond 200 of an address: nothing of what was asked for is', async () => {
    const full = await newTenant(product);
    const rules = Array.from({ length: 200 }, (_, order) => dropSsh(full.address, { order }));
    expect((await full.post(applyPath, { rules, force: true })).status).toBe(200);
    await settled(product);
    const before = await contents(product);
    const refused = [
      await full.post(rulesPath, dropSsh(full.address)),
      await full.post(`${rulesPath}/presets`, { destination: full.address, preset: 'block-ssh' }),
      await full.post(applyPath, { rules: [...rules, dropSsh(full.address)], force: true }),
      await full.post(applyPath, { rules: [...rules, dropSsh(full.address)], confirm_within_s: 60 }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [409, 'too_many']),
    );
    expect(await contents(product)).toEqual(before);
  });

  it('is not made where the rules of an address would name more than 4,000 ports', async () => {
    const full = await newTenant(product);
    const ports = { match_type: 'neq', match_value: Array.from({ length: 64 }, (_, nth) => 1_000 * nth + 2) };
    const long = (order: number) =>
      dropSsh(full.address, { order, destination_port: ports, source_port: ports });
    // Each is 65 ranges twice.
    const rules = Array.from({ length: 30 }, (_, order) => long(order));
    expect((await full.post(applyPath, { rules, force: true })).status).toBe(200);
    await settled(product);
    const before = await contents(product);
    const refused = [
      await full.post(rulesPath, long(31)),
      await full.post(applyPath, { rules: [...rules, long(31)], confirm_within_s: 60 }),
      await full.post(`${rulesPath}/simulate`, { rules: [...rules, long(31)], force: true }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [409, 'too_many']),
    );
    expect(await contents(product)).toEqual(before);
    // One that is off names none.
    expect((await full.post(applyPath, { rules: [...rules, { ...long(31), disabled: true }] })).status).toBe(
      200,
    );
  });
});
