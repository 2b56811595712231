import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contents, settled } from '../../test/sql.ts';
import type { Packet, TcpFlag } from '../drivers/edge/index.ts';
import { fits, traffic } from './presets/games.testbed.ts';
import {
  enforced,
  newTenant,
  packet,
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

const presetsPath = `${rulesPath}/presets`;

async function use(preset: string, more: object = {}): Promise<{ group_id: number; rule_ids: number[] }> {
  const { status, body } = await tenant.post(presetsPath, { destination: tenant.address, preset, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  for (const id of body.data.rule_ids) await enforced(tenant, id);
  return body.data;
}

async function drop(id: number): Promise<void> {
  expect((await tenant.delete(`${rulesPath}/groups/${id}`)).status).toBe(200);
  await settled(product);
}

const from = (source: string, protocol: 6 | 17, ports: Packet['ports'], flags: TcpFlag[] = ['syn']) =>
  packet('', { source, protocol, ports, flags: protocol === 6 ? flags : null });
const to = (port: number) => ({ source: 40_000, destination: port });
const answer = (port: number) => ({ source: port, destination: 40_000 });

type Case = [packet: Packet, passes: boolean];
const other = '198.51.100.9';
const friend = '192.0.2.7';
const six = { other: '2001:db8:9::9', friend: '2001:db8:77::1' };

/** What each preset does, in IPv4 and in IPv6; a friend is named in `ips`. */
const cases: Record<string, { four: Case[]; six: Case[]; takesIps: boolean }> = {
  'allow-cf-web': {
    takesIps: true,
    four: [
      [from('173.245.48.1', 6, to(80)), true],
      [from('131.0.75.255', 6, to(443)), true],
      [from('131.0.76.0', 6, to(443)), false],
      [from(other, 6, to(80)), false],
      [from(friend, 6, to(443)), true],
      [from(other, 6, to(22)), true],
      [from(other, 17, to(443)), true],
    ],
    six: [
      [from('2606:4700::1', 6, to(443)), true],
      [from('2606:4701::1', 6, to(443)), false],
      [from(six.friend, 6, to(443)), true],
      [from(six.other, 6, to(8080)), true],
    ],
  },
  'allow-common-dns': {
    takesIps: true,
    four: [
      [from('1.1.1.1', 17, answer(53)), true],
      [from('9.9.9.9', 17, answer(53)), true],
      [from('9.9.9.10', 17, answer(53)), false],
      [from(friend, 17, answer(53)), true],
      [from(other, 17, answer(123)), true],
      [from(other, 6, answer(53)), true],
    ],
    six: [
      [from('2620:fe::fe', 17, answer(53)), true],
      [from(six.other, 17, answer(53)), false],
      [from(six.friend, 17, answer(53)), true],
    ],
  },
  'block-ssh': {
    takesIps: true,
    four: [
      [from(other, 6, to(22)), false],
      [from(friend, 6, to(22)), true],
      [from(other, 6, to(23)), true],
      [from(other, 17, to(22)), true],
    ],
    six: [
      [from(six.other, 6, to(22)), false],
      [from(six.friend, 6, to(22)), true],
    ],
  },
  'block-rdp': {
    takesIps: true,
    four: [
      [from(other, 6, to(3389)), false],
      [from(other, 17, to(3389)), false],
      [from(friend, 6, to(3389)), true],
      [from(friend, 17, to(3389)), true],
      [from(other, 6, to(3390)), true],
    ],
    six: [
      [from(six.other, 17, to(3389)), false],
      [from(six.friend, 6, to(3389)), true],
    ],
  },
  'block-common-vectors': {
    takesIps: false,
    four: [
      ...[19, 111, 389, 1900, 3702, 11_211].map((port): Case => [from(other, 17, answer(port)), false]),
      // Of these answers are wanted, and from these people play and work.
      ...[53, 123, 1194, 3389, 27_015].map((port): Case => [from(other, 17, answer(port)), true]),
      [from(other, 6, to(443)), true],
      [from(other, 6, to(443), ['ack']), true],
      [from(other, 6, to(443), ['rst', 'ack']), true],
      [from(other, 6, to(443), ['syn', 'fin']), false],
      [from(other, 6, to(443), ['syn', 'rst']), false],
      [from(other, 6, to(443), []), false],
    ],
    six: [
      [from(six.other, 17, answer(11_211)), false],
      [from(six.other, 6, to(443), ['syn', 'fin']), false],
      [from(six.other, 17, answer(53)), true],
    ],
  },
};

/** What the edge does to packets, and what `explain` says of them. */
async function seen(address: string, packets: readonly Packet[]) {
  const verdicts: { passes: boolean; explained: string; rule: number | null }[] = [];
  for (const each of packets) {
    const { source, protocol, ports, flags } = each;
    const { status, body } = await tenant.post(`${rulesPath}/explain`, {
      ...{ source, destination: address, protocol },
      ...{ source_port: ports?.source, destination_port: ports?.destination },
      ...(flags !== null && { flags }),
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const { action: explained, rule_id: rule } = body.data;
    verdicts.push({ passes: product.edge.pass({ ...each, destination: address }), explained, rule });
  }
  return verdicts;
}

describe('a preset', () => {
  it('is described, and each that is has its packets here', async () => {
    const { presets } = (await tenant.get(presetsPath)).body.data;
    const names = presets.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual([...Object.keys(cases), ...Object.keys(traffic)].toSorted());
    for (const { name, title, description, ips, ports, dated, sources } of presets) {
      expect([title, description], name).not.toContain('');
      const isGame = traffic[name] !== undefined;
      expect(ips !== null, name).toBe(isGame || cases[name]?.takesIps);
      expect(ports !== null, name).toBe(isGame);
      // What is from somewhere else says from where, and a list of which day.
      expect(sources !== null, name).toBe(isGame || dated !== null);
    }
  });

  it('is made from the whole of a list of addresses, of which staff sees the day', async () => {
    const { presets } = (await tenant.get(presetsPath)).body.data;
    const { address_lists: lists } = (await product.staff.get('/staff/shield/address-lists')).body.data;
    // The lists of the others are of ports.
    const made = presets.filter(({ name }: { name: string }) => /^allow-(cf|common)/.test(name));
    expect(lists.flatMap((list: { presets: string[] }) => list.presets).toSorted()).toEqual(
      made.map(({ name }: { name: string }) => name).toSorted(),
    );
    for (const { presets: names, dated, source, prefixes } of lists)
      for (const preset of made.filter(({ name }: { name: string }) => names.includes(name))) {
        expect([preset.dated, preset.sources]).toEqual([dated, source]);
        // One rule lets each of them in, and one drops the rest.
        expect(preset.rules).toEqual({ ipv4: prefixes.ipv4 + 1, ipv6: prefixes.ipv6 + 1 });
      }
    expect((await tenant.get('/staff/shield/address-lists')).status).toBe(403);
  });

  it.each(Object.keys(cases))('%s does to packets what it says, in both families', async (name) => {
    const { four, six: inSix, takesIps } = cases[name] ?? { four: [], six: [], takesIps: false };
    for (const [address, wanted, ips] of [
      [tenant.address, four, [friend]],
      [tenant.address6, inSix, [six.friend]],
    ] as const) {
      const group = await use(name, { destination: address, ...(takesIps && { ips }) });
      const verdicts = await seen(
        address,
        wanted.map(([each]) => each),
      );
      expect(verdicts.map(({ passes }) => passes)).toEqual(wanted.map(([, passes]) => passes));
      expect(verdicts.map(({ explained }) => explained === 'permit')).toEqual(
        wanted.map(([, passes]) => passes),
      );
      for (const { rule } of verdicts) expect([null, ...group.rule_ids]).toContain(rule);
      await drop(group.group_id);
      const [first] = await seen(
        address,
        wanted.slice(0, 1).map(([each]) => each),
      );
      expect(first).toEqual({ passes: true, explained: 'permit', rule: null });
    }
  });

  it.each(Object.keys(traffic))(
    '%s tells a client of it from what none sends, in both families',
    async (name) => {
      const { ports, datagrams, greeting, never } = traffic[name] ?? {
        ...{ ports: { 4: 0, 6: 0 }, datagrams: {}, greeting: null, never: {} },
      };
      for (const family of [4, 6] as const) {
        const [address, source] = family === 4 ? [tenant.address, other] : [tenant.address6, six.other];
        const port = ports[family];
        const named = name === 'game-udp' ? { ports: [port] } : {};
        const group = await use(name, { destination: address, ...named });
        const one = (payload: Buffer, change: Partial<Packet> = {}) => {
          const length = payload.length + (family === 4 ? 28 : 48);
          return { ...from(source, 17, to(port)), length, ...change };
        };
        const own = Object.values(datagrams).filter((each) => fits(family, each));
        const wrong = Object.values(never).filter((each) => fits(family, each));
        const first = own[0] ?? Buffer.alloc(1);
        const packets: Case[] = [
          ...own.map((each): Case => [one(each), true]),
          ...wrong.map((each): Case => [one(each), false]),
          ...[53, 123, 389, 1_900, 11_211].map((reflecting): Case => {
            return [one(first, { ports: { source: reflecting, destination: port } }), false];
          }),
          [one(first, { fragment: true }), false],
          [one(first, { ports: to(port + 1) }), true],
          [from(source, 6, to(port)), true],
          [from(source, 6, to(port), ['syn', 'fin']), greeting === null],
        ];
        for (const [each, passes] of packets) {
          const told = JSON.stringify([each.length, each.ports, each.fragment]);
          expect(product.edge.pass({ ...each, destination: address }), told).toBe(passes);
        }
        const shown = (await tenant.get(`${rulesPath}/group/${group.group_id}`)).body.data;
        expect(shown.group.ports).toContain(port);
        await drop(group.group_id);
      }
    },
  );

  it('holds a source to its rate, which its rule says, and is made for other ports where the server is on those', async () => {
    const { group_id, rule_ids } = await use('game-teamspeak', { ports: [9_988], ips: [friend] });
    const { group, rules } = (await tenant.get(`${rulesPath}/group/${group_id}`)).body.data;
    expect(group.ports).toEqual([9_988]);
    const limited = rules.find(({ rate }: { rate: object | null }) => rate !== null);
    expect(limited).toMatchObject({
      ...{ action: 'permit', rate_limiter_id: 0, dst_port_type: 'eq' },
      rate: { packets_per_second: 500, bits_per_second: null, per: 'source', burst: 1_000 },
      matches: [{ match: 'length', match_type: 'range', range: { start: 41, end: 528 } }],
    });
    const through = (source: string, port: number) =>
      Array.from({ length: 3_000 }).filter(() =>
        product.edge.pass({ ...from(source, 17, to(port)), destination: tenant.address, length: 100 }),
      ).length;
    const own = through(other, 9_988);
    // Some come again while these are sent.
    expect(own >= 1_000 && own < 2_000, String(own)).toBe(true);
    expect([through(friend, 9_988), through(other, 9_987)]).toEqual([3_000, 3_000]);
    const anew = await use('game-teamspeak', { id: group_id });
    expect(anew.rule_ids).not.toEqual(rule_ids);
    expect((await tenant.get(`${rulesPath}/group/${group_id}`)).body.data.group.ports).toEqual([9_987]);
    await drop(group_id);
  });

  it('makes a group that is seen, made anew with other addresses, and taken away as one', async () => {
    const { group_id, rule_ids } = await use('block-ssh', { ips: [friend], note: 'Ours alone' });
    const seenGroup = (await tenant.get(`${rulesPath}/group/${group_id}`)).body.data;
    expect(seenGroup.group).toMatchObject({
      ...{ id: group_id, preset: 'block-ssh', destination: `${tenant.address}/32`, note: 'Ours alone' },
      ips: [`${friend}/32`],
    });
    expect(
      seenGroup.rules.map(({ id, group_id: group }: { id: number; group_id: number }) => [id, group]),
    ).toEqual(rule_ids.map((id) => [id, group_id]));
    const anew = await use('block-ssh', { id: group_id, ips: ['203.0.113.5'] });
    expect(anew.group_id).toBe(group_id);
    const [ours, theirs] = await seen(tenant.address, [
      from('203.0.113.5', 6, to(22)),
      from(friend, 6, to(22)),
    ]);
    expect([ours?.passes, theirs?.passes]).toEqual([true, false]);
    await drop(group_id);
    expect((await tenant.get(`${rulesPath}/group/${group_id}`)).status).toBe(404);
    expect((await tenant.get(rulesPath)).body.data.total).toBe(0);
  });

  it.each([
    ['that there is not', 400, { preset: 'block-everything' }],
    ['with ports where they mean nothing', 400, { preset: 'block-ssh', ports: [22] }],
    ['without the ports that it needs', 400, { preset: 'game-udp' }],
    ['with a port that there is not', 400, { preset: 'game-udp', ports: [0] }],
    ['with ports as text', 400, { preset: 'game-udp', ports: '[7777]' }],
    [
      'with more ports than a game has',
      400,
      { preset: 'game-udp', ports: Array.from({ length: 17 }, (_, nth) => nth + 1) },
    ],
    ['with addresses where they mean nothing', 400, { preset: 'block-common-vectors', ips: ['192.0.2.1'] }],
    ['with addresses of the other family', 400, { preset: 'block-ssh', ips: ['2001:db8::1'] }],
    ['with addresses that are none', 400, { preset: 'block-ssh', ips: ['friend'] }],
    ['with a note that a filter could misread', 400, { preset: 'block-ssh', note: 'x"; drop' }],
    ['as a group that nothing has', 404, { preset: 'block-ssh', id: 4242 }],
  ])('is refused %s, and nothing changes', async (_, status, body) => {
    await settled(product);
    const before = await contents(product);
    const refused = await tenant.post(presetsPath, { destination: tenant.address, ...body });
    expect(refused.status, JSON.stringify(refused.body)).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it("is not made for another organization's address", async () => {
    const before = await contents(product);
    const refused = await tenant.post(presetsPath, { destination: stranger.address, preset: 'block-ssh' });
    expect(refused.status).toBe(403);
    expect(await contents(product)).toEqual(before);
  });
});

describe('the sensitivity of an address', () => {
  const path = (address: string) => `/shield/v2/sensitivity/${encodeURIComponent(address)}`;
  const byDefault = { level: 'medium', mode: 'monitor', mitigation: 'auto', thresholds: {} };

  it('is medium, and watches only, until somebody says otherwise', async () => {
    for (const address of [tenant.address, tenant.address6]) {
      const { body } = await tenant.get(path(address));
      expect(body.data.sensitivity).toMatchObject(byDefault);
    }
  });

  it('takes what is named, with and without a length, and leaves the rest', async () => {
    const set = await tenant.patch(path(`${tenant.address}/32`), {
      ...{ level: 'high', mode: 'enabled' },
      thresholds: { udp: { pps: 20_000 }, syn: { pps: 500, mbps: 10 } },
    });
    expect(set.status, JSON.stringify(set.body)).toBe(200);
    const changed = await tenant.patch(path(tenant.address), {
      mitigation: 'permanent',
      thresholds: { udp: null, total: { mbps: 100 } },
    });
    expect(changed.body.data.sensitivity).toMatchObject({
      ...{ address: `${tenant.address}/32`, level: 'high', mode: 'enabled', mitigation: 'permanent' },
      thresholds: { syn: { pps: 500, mbps: 10 }, total: { mbps: 100 } },
      ...{ whitelist: [], synproxy: false },
    });
    expect((await tenant.get(path(tenant.address))).body.data).toEqual(changed.body.data);
    expect((await tenant.get(path(tenant.address6))).body.data.sensitivity).toMatchObject(byDefault);
  });

  it.each([
    ['a level that there is not', 400, { level: 'extreme' }],
    ['a kind of attack that there is not', 400, { thresholds: { icmp6: { pps: 1 } } }],
    ['a rate of nothing', 400, { thresholds: { udp: { pps: 0 } } }],
  ])('refuses %s, and nothing changes', async (_, status, body) => {
    const before = await contents(product);
    const refused = await tenant.patch(path(tenant.address), body);
    expect(refused.status, JSON.stringify(refused.body)).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it("is nobody else's business, be it another's address or nobody's", async () => {
    const before = await contents(product);
    for (const address of [stranger.address, '198.51.100.77'])
      for (const asked of [
        await tenant.get(path(address)),
        await tenant.patch(path(address), { level: 'off' }),
      ])
        expect([asked.status, asked.body.code], address).toEqual([403, 'forbidden']);
    expect((await tenant.get(path('10.0.0.0/24'))).status).toBe(400);
    expect(await contents(product)).toEqual(before);
  });
});
