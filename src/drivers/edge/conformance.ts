import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Edge, EdgeError, Match, Packet, Policy, Rule, TcpFlag } from './contract.ts';
import { judge } from './judge.ts';
import { chance, randomPacket, randomPolicy } from './random.testbed.ts';

/** What the suite needs to know of the engine it tests. */
export interface EdgeUnderTest {
  edge: Edge;
  /**
   * Sends packets to guests in this order, and says which got through. Guests are at 10.0.0.0/8 and 2001:db8:7::/48, the world
   * is all the rest. `perSecond` spreads them over time.
   */
  send(packets: readonly Packet[], how?: { bridged?: boolean; perSecond?: number }): Promise<boolean[]>;
  /** Lets time pass until it is so. */
  until(isSo: () => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

type Family = 4 | 6;
const families: readonly Family[] = [4, 6];
const flags: readonly TcpFlag[] = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg'];

let last = 0;
/** Of a guest that no test has used yet. */
function freshAddress(family: Family): string {
  last += 1;
  return family === 4 ? `10.${last >> 8}.${last & 255}.1` : `2001:db8:7:${last.toString(16)}::1`;
}

function packet(destination: string, other: Partial<Packet> = {}): Packet {
  const isSix = destination.includes(':');
  return {
    source: isSix ? '2001:db8:2::5' : '198.18.2.5',
    destination,
    protocol: 17,
    ports: { source: 40_000, destination: 5_353 },
    flags: null,
    dscp: 10,
    ecn: 1,
    ttl: 64,
    length: 120,
    fragment: false,
    ...other,
  };
}

function policy(
  destination: string,
  generation: number,
  rules: Policy['rules'],
  other: Partial<Policy> = {},
): Policy {
  return { destination, generation, rules, unmatched: 'permit', ...other };
}

function rule(id: number, action: Rule['action'], match: Match = {}, limit: Rule['limit'] = null): Rule {
  return { id, action, match, limit };
}

function times(count: number, one: Packet): Packet[] {
  return Array.from({ length: count }, () => one);
}

function bitsFlipped(value: number, bits: number): number[] {
  return Array.from({ length: bits }, (_, bit) => value ^ (1 << bit));
}

interface Case {
  says: string;
  match: Match;
  hits: Partial<Packet>[];
  misses: Partial<Packet>[];
}

const withoutPorts = { ports: null, flags: null };
/** Extension headers in IPv6: what follows them would be the protocol. */
const noProtocols = [0, 43, 44, 51, 59, 60, 135, 139, 140];

function cases(family: Family): Case[] {
  const at = (four: string, six: string) => (family === 4 ? four : six);
  const protocol = (value: number) =>
    value === 6 || value === 17
      ? { protocol: value, ...(value === 6 ? { flags: ['ack'] as const } : {}) }
      : { protocol: value, ...withoutPorts };
  const port = (side: 'source' | 'destination', value: number): Partial<Packet> => ({
    ports: { source: 1, destination: 1, [side]: value },
  });
  const sides = ['source', 'destination'] as const;
  return [
    {
      says: 'one source',
      match: { sources: [at('198.18.4.7/32', '2001:db8:4::7/128')] },
      hits: [{ source: at('198.18.4.7', '2001:db8:4::7') }],
      misses: [
        { source: at('198.18.4.6', '2001:db8:4::6') },
        { source: at('70.18.4.7', '2001:db8:8004::7') },
      ],
    },
    {
      says: 'networks as sources, one within another',
      match: {
        sources: [
          at('198.18.4.0/23', '2001:db8:4::/47'),
          at('198.18.5.0/24', '2001:db8:5::/48'),
          at('198.19.0.0/17', '2001:db8:f000::/36'),
        ],
      },
      hits: [
        { source: at('198.18.4.1', '2001:db8:4::') },
        { source: at('198.18.5.255', '2001:db8:5:ffff:ffff:ffff:ffff:ffff') },
        { source: at('198.19.127.255', '2001:db8:ffff::1') },
      ],
      misses: [
        { source: at('198.18.6.0', '2001:db8:6::') },
        { source: at('198.18.3.255', '2001:db8:3:ffff:ffff:ffff:ffff:ffff') },
        { source: at('198.19.128.0', '2001:db8:efff::1') },
      ],
    },
    ...[1, 4, 6, 17, 47, 50].map((each): Case => {
      const value = each === 1 && family === 6 ? 58 : each;
      const others = bitsFlipped(value, 8).filter((other) => !noProtocols.includes(other));
      return {
        says: `protocol ${value}`,
        match: { protocols: [[value, value]] },
        hits: [protocol(value)],
        misses: others.map(protocol),
      };
    }),
    {
      says: 'protocols from and to, and later parts of packets',
      match: {
        protocols: [
          [6, 6],
          [17, 50],
        ],
      },
      hits: [...[6, 17, 33, 50].map(protocol), { ...protocol(17), ...withoutPorts, fragment: true }],
      misses: [1, 16, 52].map(protocol),
    },
    ...sides.flatMap((side): Case[] => {
      const name = side === 'source' ? 'sourcePorts' : 'destinationPorts';
      return [
        {
          says: `${side} port`,
          match: { [name]: [[5_353, 5_353]] },
          hits: [
            port(side, 5_353),
            { ...port(side, 5_353), ...protocol(6) },
            { ...port(side, 5_353), fragment: true },
          ],
          misses: [
            ...bitsFlipped(5_353, 16).map((value) => port(side, value)),
            port(side === 'source' ? 'destination' : 'source', 5_353),
            { ...port(side, 5_353), ...withoutPorts, fragment: true },
            protocol(47),
          ],
        },
        {
          says: `${side} ports, all but some`,
          match: {
            protocols: [[17, 17]],
            [name]: [
              [0, 52],
              [54, 122],
              [124, 65_535],
            ],
          },
          hits: [0, 52, 54, 122, 124, 65_535].map((value) => port(side, value)),
          misses: [port(side, 53), port(side, 123), { ...port(side, 0), ...protocol(6) }],
        },
        {
          says: `${side} port, any`,
          match: { [name]: [[0, 65_535]] },
          hits: [port(side, 0), port(side, 65_535), { ...port(side, 7), ...protocol(6) }],
          misses: [protocol(47), { ...withoutPorts, fragment: true }],
        },
      ];
    }),
    ...flags.flatMap((flag) =>
      [true, false].map((isSet): Case => {
        const [has, not]: [Partial<Packet>, Partial<Packet>] = [
          { protocol: 6, flags: [flag] },
          { protocol: 6, flags: flags.filter((each) => each !== flag) },
        ];
        return {
          says: `${flag} ${isSet ? 'set' : 'not set'}`,
          match: { flags: { [flag]: isSet } },
          hits: [isSet ? has : not],
          misses: [isSet ? not : has, {}, { protocol: 6, ...withoutPorts, fragment: true }],
        };
      }),
    ),
    {
      says: 'syn without ack',
      match: { flags: { syn: true, ack: false } },
      hits: [
        { protocol: 6, flags: ['syn'] },
        { protocol: 6, flags: ['syn', 'psh', 'urg'] },
      ],
      misses: [
        { protocol: 6, flags: ['syn', 'ack'] },
        { protocol: 6, flags: [] },
        { protocol: 6, flags: ['ack'] },
      ],
    },
    {
      says: 'dscp',
      match: { dscp: [[46, 46]] },
      hits: [
        { dscp: 46, ecn: 0 },
        { dscp: 46, ecn: 3 },
      ],
      misses: bitsFlipped(46, 6).map((dscp) => ({ dscp })),
    },
    {
      says: 'dscp from and to',
      match: {
        dscp: [
          [0, 9],
          [20, 40],
          [63, 63],
        ],
      },
      hits: [0, 9, 20, 40, 63].map((dscp) => ({ dscp })),
      misses: [10, 19, 41, 62].map((dscp) => ({ dscp })),
    },
    ...[0, 1, 2, 3].map((ecn): Case => {
      return {
        says: `ecn ${ecn}`,
        match: { ecn: [[ecn, ecn]] },
        hits: [{ ecn }],
        misses: bitsFlipped(ecn, 2).map((other) => ({ ecn: other })),
      };
    }),
    {
      says: 'ecn all but one',
      match: {
        ecn: [
          [0, 1],
          [3, 3],
        ],
      },
      hits: [{ ecn: 0 }, { ecn: 1 }, { ecn: 3 }],
      misses: [{ ecn: 2 }],
    },
    {
      says: 'ttl',
      match: { ttl: [[85, 85]] },
      hits: [{ ttl: 85 }],
      misses: bitsFlipped(85, 8).map((ttl) => ({ ttl })),
    },
    {
      says: 'ttl above, and below',
      match: {
        ttl: [
          [0, 5],
          [250, 255],
        ],
      },
      hits: [{ ttl: 5 }, { ttl: 250 }, { ttl: 255 }],
      misses: [{ ttl: 6 }, { ttl: 249 }],
    },
    {
      says: 'length',
      match: {
        lengths: [
          [100, 100],
          [512, 600],
        ],
      },
      hits: [{ length: 100 }, { length: 512 }, { length: 600 }],
      misses: [...bitsFlipped(100, 5), 511, 601].map((length) => ({ length })),
    },
    {
      says: 'parts of packets',
      match: { fragment: true },
      hits: [{ fragment: true }, { ...withoutPorts, fragment: true }],
      misses: [{}, protocol(47)],
    },
    {
      says: 'whole packets',
      match: { fragment: false },
      hits: [{}, protocol(47)],
      misses: [{ fragment: true }, { ...withoutPorts, fragment: true }],
    },
    {
      says: 'everything at once',
      match: {
        sources: [at('198.18.0.0/15', '2001:db8::/32')],
        protocols: [[17, 17]],
        sourcePorts: [[1_024, 65_535]],
        destinationPorts: [[27_015, 27_030]],
        dscp: [[0, 0]],
        ecn: [[0, 0]],
        ttl: [[32, 128]],
        lengths: [[60, 128]],
        fragment: false,
      },
      hits: [{ ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0 }],
      misses: [
        { ports: { source: 1_023, destination: 27_020 }, dscp: 0, ecn: 0 },
        { ports: { source: 1_024, destination: 27_031 }, dscp: 0, ecn: 0 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 1 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0, ttl: 129 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0, length: 129 },
      ],
    },
    {
      says: 'every packet',
      match: {},
      hits: [{}, protocol(47), protocol(6), { ...withoutPorts, fragment: true }],
      misses: [],
    },
  ];
}

/** What every engine must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeEdge(
  name: string,
  make: () => Promise<EdgeUnderTest>,
  { skip = null, randomPackets = 2_000 }: { skip?: string | null; randomPackets?: number } = {},
): void {
  // Each call is a dozen programs, on cores that others may be using too.
  describe.skipIf(skip !== null)(`${name} keeps the contract of an edge`, { timeout: 180_000 }, () => {
    let test: EdgeUnderTest;
    let edge: Edge;
    beforeAll(async () => {
      test = await make();
      edge = test.edge;
    });
    afterAll(() => test?.close());

    /** Packets and bytes by rule, over all writings. */
    const counted = async (destination: string, of = 'policy') => {
      const sums: Record<string, [number, number]> = {};
      for (const each of (await edge.readRules([destination])).filter((count) => count.of === of)) {
        const [packets, bytes] = sums[String(each.rule)] ?? [0, 0];
        sums[String(each.rule)] = [packets + each.packets, bytes + each.bytes];
      }
      return sums;
    };
    const packetsOf = async (destination: string, id: number | null) =>
      (await counted(destination))[String(id)]?.[0];
    const held = async (destination: string) =>
      (await edge.list())
        .filter((each) => each.destination === destination)
        .map(({ as, generation }) => `${as} ${generation}`)
        .toSorted();
    const passes = async (one: Packet) => (await test.send([one]))[0];
    const whole = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

    for (const bridged of [false, true]) {
      describe(bridged ? 'between two guests of one bridge' : 'from the world to a guest', () => {
        it.each(families)('matches what a rule says and nothing else, to a bit (IPv%i)', async (family) => {
          if (bridged && !edge.capabilities.includes('bridged')) return;
          const all = cases(family).map((each) => ({ ...each, address: freshAddress(family) }));
          await edge.replace(all.map(({ address, match }) => policy(address, 1, [rule(7, 'deny', match)])));
          const hits = all.flatMap((each) =>
            each.hits.map((other) => ({ each, packet: packet(each.address, other) })),
          );
          const misses = all.flatMap((each) =>
            each.misses.map((other) => ({ each, packet: packet(each.address, other) })),
          );
          const sent = [...hits, ...misses];
          const arrived = await test.send(
            sent.map((one) => one.packet),
            { bridged },
          );
          const told = (one: (typeof sent)[number], at: number) =>
            `${one.each.says}: ${JSON.stringify(one.packet)} ${arrived[at]}`;
          const wrong = sent.filter((_, at) => arrived[at] !== at >= hits.length);
          expect(wrong.map((one) => told(one, sent.indexOf(one)))).toEqual([]);
          for (const { address, says, hits, misses } of all) {
            const bytes = (packets: Partial<Packet>[]) =>
              packets.reduce((sum, { length = 120 }) => sum + length, 0);
            expect(await counted(address), says).toEqual({
              7: [hits.length, bytes(hits)],
              null: [misses.length, bytes(misses)],
            });
          }
        });
      });
    }

    it('lets the first rule decide that matches, and says so by its counters', async () => {
      const address = freshAddress(4);
      const web: Match = { protocols: [[6, 6]], destinationPorts: [[80, 80]] };
      await edge.replace([
        policy(
          address,
          1,
          [
            rule(9, 'permit', { ...web, sources: ['198.18.9.0/24'] }),
            rule(8, 'deny', web),
            rule(1, 'permit', web),
            rule(2, 'permit', { protocols: [[17, 17]] }),
          ],
          { unmatched: 'deny' },
        ),
      ]);
      const to = (source: string, other: Partial<Packet> = {}) =>
        packet(address, {
          source,
          protocol: 6,
          flags: ['syn'],
          ports: { source: 9, destination: 80 },
          ...other,
        });
      const sent = [
        to('198.18.9.1'),
        to('198.18.8.1'),
        to('198.18.9.255'),
        packet(address),
        to('198.18.9.1', { ports: { source: 80, destination: 81 } }),
      ];
      expect(await test.send(sent)).toEqual([true, false, true, true, false]);
      expect(await counted(address)).toEqual({
        9: [2, 240],
        8: [1, 120],
        1: [0, 0],
        2: [1, 120],
        null: [1, 120],
      });
    });

    it('keeps many neighbouring rules of sources and ports apart, also where they overlap', async () => {
      for (const family of families) {
        const address = freshAddress(family);
        const source = (nth: number) =>
          family === 4 ? `198.18.${nth}.0/24` : `2001:db8:${nth.toString(16)}::/48`;
        const at = (nth: number) => (family === 4 ? `198.18.${nth}.77` : `2001:db8:${nth.toString(16)}::77`);
        const rules = Array.from({ length: 60 }, (_, nth) =>
          rule(100 + nth, nth % 3 === 0 ? 'permit' : 'deny', {
            protocols: [nth % 2 === 0 ? [17, 17] : [6, 6]],
            sources: [source(nth % 20)],
            destinationPorts: [[1_000 + nth * 10, 1_005 + nth * 10]],
          }),
        );
        // Overlaps with the tenth, before and behind it.
        rules.splice(5, 0, rule(50, 'permit', { ...rules[10]?.match, destinationPorts: [[1_100, 1_100]] }));
        rules.splice(40, 0, rule(51, 'permit', { ...rules[11]?.match, destinationPorts: [[1_100, 1_105]] }));
        const wanted = policy(address, 1, rules, { unmatched: 'deny' });
        await edge.replace([wanted]);
        const sent = Array.from({ length: 60 }, (_, nth) =>
          [1_000, 1_005, 1_006].map((port) => {
            const [protocol, set] = nth % 2 === 0 ? ([17, null] as const) : ([6, ['ack'] as const] as const);
            return packet(address, {
              source: at(nth % 20),
              protocol,
              flags: set,
              ports: { source: 5, destination: port + nth * 10 },
              length: 100 + nth,
            });
          }),
        ).flat();
        expect(await test.send(sent)).toEqual(sent.map((one) => judge(wanted, one).action === 'permit'));
        expect(await counted(address)).toEqual(expectedCounts(wanted, sent));
      }
    });

    it('holds a network as well as one address, and a rule may name a part of it', async () => {
      for (const [network, part, inside, outside] of [
        ['10.200.0.16/28', '10.200.0.18/31', '10.200.0.19', '10.200.0.17'],
        ['2001:db8:7:f000::/60', '2001:db8:7:f008::/61', '2001:db8:7:f00f::1', '2001:db8:7:f007::1'],
      ] as const) {
        await edge.replace([policy(network, 1, [rule(1, 'deny', { destination: part })])]);
        expect(await test.send([packet(inside), packet(outside)])).toEqual([false, true]);
        expect(await held(network)).toEqual(['policy 1']);
        const overlaps = expect.objectContaining({ code: 'overlaps', permanent: true });
        await expect(edge.replace([policy(inside, 1, [])])).rejects.toEqual(overlaps);
        await expect(edge.try([policy(inside, 1, [])], 5)).rejects.toEqual(overlaps);
      }
      const two = [policy('10.201.0.0/24', 1, []), policy('10.201.0.0/25', 1, [])];
      await expect(edge.replace(two)).rejects.toMatchObject({ code: 'overlaps' });
      expect(await held('10.201.0.0/24')).toEqual([]);
    });

    it('replaces a policy, counts on, and an older generation changes nothing', async () => {
      const address = freshAddress(6);
      await edge.replace([policy(address, 5, [rule(3, 'deny')])]);
      expect(await passes(packet(address))).toBe(false);
      await edge.replace([policy(address, 4, [])]);
      expect(await passes(packet(address))).toBe(false);
      await edge.replace([policy(address, 5, [rule(3, 'deny')])]);
      expect((await edge.readRules([address])).filter(({ isOver }) => isOver)).toEqual([]);
      await edge.replace([policy(address, 6, [rule(2, 'permit'), rule(3, 'deny')])]);
      expect(await passes(packet(address))).toBe(true);
      expect([await packetsOf(address, 3), await packetsOf(address, 2)]).toEqual([2, 1]);
      expect(await held(whole(address))).toEqual(['policy 6']);
      const over = (await edge.readRules([address])).filter(({ isOver }) => isOver);
      expect(
        over.filter(({ rule }) => rule === 3).map(({ packets, generation }) => [packets, generation]),
      ).toEqual([[2, 5]]);
      const running = (await edge.readRules([address])).find(({ isOver }) => !isOver)?.writing ?? '';
      await edge.forget([...over.map(({ writing }) => writing), running, 'unknown']);
      await edge.forget(over.map(({ writing }) => writing));
      expect([await packetsOf(address, 3), await packetsOf(address, 2)]).toEqual([0, 1]);
    });

    it('lets go of a destination, unless it holds a newer generation', async () => {
      const [one, other] = [freshAddress(4), freshAddress(4)];
      await edge.replace([one, other].map((address) => policy(address, 3, [rule(1, 'deny')])));
      await edge.remove([{ destination: one, generation: 2 }]);
      expect(await passes(packet(one))).toBe(false);
      await edge.remove([one, other].map((destination) => ({ destination, generation: 3 })));
      await edge.remove([{ destination: one, generation: 3 }]);
      expect(await test.send([packet(one), packet(other)])).toEqual([true, true]);
      expect([await held(whole(one)), await held(whole(other))]).toEqual([[], []]);
      await edge.replace([policy(one, 1, [rule(1, 'deny')])]);
      expect(await passes(packet(one))).toBe(false);
    });

    it('refuses what is no policy, and nothing changes', async () => {
      const address = freshAddress(4);
      await edge.replace([policy(address, 1, [rule(1, 'deny')])]);
      const good = policy(address, 2, []);
      const bad: Partial<Policy>[] = [
        { destination: '' },
        { destination: '10.9.9.9/24' },
        { destination: '10.9.9.9/33' },
        { destination: '10.9.9' },
        { destination: '0x0a.9.9.9' },
        { destination: 'fe80::1%eth0' },
        { destination: '10.9.9.9; flush ruleset' },
        { destination: '10.9.9.9\n' },
        { generation: -1 },
        { generation: 1.5 },
        { rules: [rule(0, 'deny')] },
        { rules: [rule(2 ** 31, 'deny')] },
        { rules: [rule(1, 'deny'), rule(1, 'deny')] },
        { rules: [rule(1, 'drop; flush ruleset' as 'deny')] },
        { rules: [rule(1, 'deny', { sources: [] })] },
        { rules: [rule(1, 'deny', { sources: ['2001:db8::/32'] })] },
        { rules: [rule(1, 'deny', { sources: ['198.18.0.1/24'] })] },
        { rules: [rule(1, 'deny', { sources: ['198.18.0.1 accept'] })] },
        { rules: [rule(1, 'deny', { destination: '10.0.0.0/8' })] },
        { rules: [rule(1, 'deny', { destinationPorts: [[80, 79]] })] },
        { rules: [rule(1, 'deny', { destinationPorts: [[0, 65_536]] })] },
        { rules: [rule(1, 'deny', { destinationPorts: [] })] },
        { rules: [rule(1, 'deny', { destinationPorts: [['80 accept' as unknown as number, 90]] })] },
        { rules: [rule(1, 'deny', { protocols: [[47, 47]], destinationPorts: [[80, 80]] })] },
        { rules: [rule(1, 'deny', { protocols: [[17, 17]], flags: { syn: true } })] },
        { rules: [rule(1, 'deny', { flags: {} })] },
        { rules: [rule(1, 'deny', { dscp: [[0, 64]] })] },
        { rules: [rule(1, 'deny', { ecn: [[4, 4]] })] },
        { rules: [rule(1, 'deny', { ttl: [[-1, 4]] })] },
        { rules: [rule(1, 'deny', {}, { packetsPerSecond: 5, per: 'rule', burst: 1 })] },
        { rules: [rule(1, 'permit', {}, { per: 'rule', burst: 1 })] },
        { rules: [rule(1, 'permit', {}, { packetsPerSecond: 0, per: 'rule', burst: 1 })] },
        { rules: [rule(1, 'permit', {}, { packetsPerSecond: 5, per: 'rule', burst: 0 })] },
      ];
      const invalid = expect.objectContaining({ code: 'policy_invalid', permanent: true });
      const others: string[] = [];
      for (const each of bad) {
        const wrong = { ...good, ...each };
        const other = policy(freshAddress(4), 1, [rule(1, 'deny')]);
        await expect(edge.replace([other, wrong]), JSON.stringify(each)).rejects.toEqual(invalid);
        await expect(edge.try([wrong], 10), JSON.stringify(each)).rejects.toEqual(invalid);
        others.push(whole(other.destination));
      }
      expect((await edge.list()).filter(({ destination }) => others.includes(destination))).toEqual([]);
      await expect(edge.replace([good, good])).rejects.toEqual(invalid);
      expect(await held(whole(address))).toEqual(['policy 1']);
      expect(await passes(packet(address))).toBe(false);
    });

    it('does to random packets by random policies what the one function says', async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const random = chance(seed);
      const policies = Array.from({ length: Math.ceil(randomPackets / 100) }, (_, nth) =>
        randomPolicy(random, freshAddress(nth % 2 === 0 ? 4 : 6)),
      );
      await edge.replace(policies);
      const sent = policies.flatMap((each) =>
        Array.from({ length: 100 }, () => randomPacket(random, each.destination)),
      );
      const arrived = await test.send(sent);
      const verdicts = sent.map((one, nth) => judge(policies[Math.floor(nth / 100)] as Policy, one));
      const different = sent.flatMap((one, nth) =>
        arrived[nth] === (verdicts[nth]?.action === 'permit')
          ? []
          : [
              `seed ${seed}: ${JSON.stringify(one)} arrived: ${arrived[nth]}, judged by ${JSON.stringify(verdicts[nth])}`,
            ],
      );
      expect(different).toEqual([]);
      // No test of itself, when everything passes or nothing does.
      expect(
        Math.min(...[true, false].map((each) => arrived.filter((one) => one === each).length)),
      ).toBeGreaterThan(randomPackets / 20);
      const counts = await edge.readRules(policies.map(({ destination }) => destination));
      for (const [nth, each] of policies.entries()) {
        const own = counts.filter(({ destination }) => destination === whole(each.destination));
        const sums = Object.fromEntries(
          own.map(({ rule, packets, bytes }) => [String(rule), [packets, bytes]]),
        );
        const expected = expectedCounts(each, sent.slice(nth * 100, nth * 100 + 100));
        expect(sums, `seed ${seed}`).toEqual(expected);
      }
    });

    describe('a trial', () => {
      it('ends by itself, and what was in force before is so again, each counted', async () => {
        const address = freshAddress(4);
        await edge.replace([policy(address, 1, [rule(1, 'deny')])]);
        await edge.try([policy(address, 2, [rule(2, 'permit')])], 10);
        expect(await passes(packet(address))).toBe(true);
        expect(await held(whole(address))).toEqual(['policy 1', 'trial 2']);
        const endsInMs = (await edge.list()).find(({ as }) => as === 'trial')?.endsInMs ?? 0;
        expect(endsInMs > 0 && endsInMs <= 10_000, String(endsInMs)).toBe(true);
        await test.until(async () => !(await passes(packet(address))));
        expect(await held(whole(address))).toEqual(['policy 1']);
        const sums = await counted(address);
        expect(sums[1]?.[0]).toBe(1);
        const trial = (await edge.readRules([address])).filter(({ generation }) => generation === 2);
        expect(trial.every(({ isOver }) => isOver)).toBe(true);
        await edge.forget(trial.map(({ writing }) => writing));
        expect((await counted(address))[2]).toBeUndefined();
      });

      it('stays in force when it is confirmed, with its counters, and only while it lasts', async () => {
        const [one, other] = [freshAddress(4), freshAddress(6)];
        const both = (generation: number) => [one, other].map((destination) => ({ destination, generation }));
        await edge.replace([policy(one, 1, [])]);
        await edge.try(
          [one, other].map((address) => policy(address, 2, [rule(2, 'deny')])),
          60,
        );
        expect(await test.send([packet(one), packet(other)])).toEqual([false, false]);
        const over = expect.objectContaining({ code: 'trial_over', permanent: true });
        await expect(edge.confirm(both(3))).rejects.toEqual(over);
        await edge.confirm(both(2));
        await edge.confirm(both(2));
        expect([await held(whole(one)), await held(whole(other))]).toEqual([['policy 2'], ['policy 2']]);
        expect(await test.send([packet(one), packet(other)])).toEqual([false, false]);
        expect([await packetsOf(one, 2), await packetsOf(other, 2)]).toEqual([2, 2]);
        await edge.try([policy(one, 3, [])], 1);
        await test.until(async () => !(await passes(packet(one))));
        await expect(edge.confirm([{ destination: one, generation: 3 }])).rejects.toEqual(over);
        expect(await held(whole(one))).toEqual(['policy 2']);
      });

      it('is confirmed for all destinations of a call or for none', async () => {
        const [one, other] = [freshAddress(4), freshAddress(4)];
        await edge.try([policy(one, 1, [rule(1, 'deny')])], 60);
        await expect(
          edge.confirm([one, other].map((destination) => ({ destination, generation: 1 }))),
        ).rejects.toMatchObject({ code: 'trial_over' });
        expect(await held(whole(one))).toEqual(['trial 1']);
      });

      it('can be taken back, tried anew, and gives way to what is newer', async () => {
        const address = freshAddress(6);
        const version = (generation: number) => [{ destination: address, generation }];
        await edge.replace([policy(address, 1, [])]);
        await edge.try([policy(address, 2, [rule(2, 'deny')])], 60);
        await edge.takeBack(version(1));
        expect(await passes(packet(address))).toBe(false);
        await edge.takeBack(version(2));
        await edge.takeBack(version(2));
        expect(await passes(packet(address))).toBe(true);
        await edge.try([policy(address, 3, [rule(3, 'deny')])], 60);
        await edge.try([policy(address, 4, [rule(4, 'deny')])], 60);
        await edge.try([policy(address, 3, [])], 60);
        expect(await held(whole(address))).toEqual(['policy 1', 'trial 4']);
        await edge.replace([policy(address, 2, [])]);
        expect(await held(whole(address))).toEqual(['policy 2', 'trial 4']);
        expect(await passes(packet(address))).toBe(false);
        await edge.replace([policy(address, 5, [])]);
        expect(await held(whole(address))).toEqual(['policy 5']);
        expect(await passes(packet(address))).toBe(true);
        await edge.try([policy(address, 4, [rule(4, 'deny')])], 60);
        expect(await passes(packet(address))).toBe(true);
      });

      it('goes on for longer when it is asked for again', async () => {
        const address = freshAddress(4);
        await edge.try([policy(address, 1, [rule(1, 'deny')])], 2);
        await edge.try([policy(address, 1, [rule(1, 'deny')])], 60);
        expect(
          (await edge.list()).find(({ as, destination }) => as === 'trial' && destination === whole(address))
            ?.endsInMs,
        ).toBeGreaterThan(30_000);
        await edge.takeBack([{ destination: address, generation: 1 }]);
        expect(await held(whole(address))).toEqual([]);
      });

      it('lasts for whole seconds', async () => {
        for (const seconds of [0, -1, 0.5, Number.NaN, 86_401]) {
          await expect(edge.try([policy(freshAddress(4), 1, [])], seconds)).rejects.toMatchObject({
            code: 'policy_invalid',
          });
        }
      });
    });

    describe('a measure against an attack', () => {
      it('stands before the policy, spares who is exempt, and is released', async () => {
        for (const family of families) {
          const address = freshAddress(family);
          const [exempt, other] =
            family === 4 ? ['198.18.7.0/24', '198.18.7.9'] : ['2001:db8:70::/48', '2001:db8:70::9'];
          const reflected: Match = { protocols: [[17, 17]], sourcePorts: [[123, 123]] };
          await edge.replace([
            policy(address, 1, [rule(1, 'permit', { protocols: [[17, 17]] })], { unmatched: 'deny' }),
          ]);
          const measure = { kind: 'filter', rules: [rule(5, 'deny', reflected)], exempt: [exempt] } as const;
          await edge.mitigate({ destination: address, generation: 2, measure });
          await edge.mitigate({ destination: address, generation: 2, measure });
          await edge.mitigate({ destination: address, generation: 1, measure: { kind: 'blackhole' } });
          const ntp = packet(address, { ports: { source: 123, destination: 9 } });
          const sent = [
            ntp,
            { ...ntp, source: other },
            packet(address),
            packet(address, { protocol: 47, ports: null }),
          ];
          expect(await test.send(sent)).toEqual([false, true, true, false]);
          expect((await counted(address, 'mitigation'))[5]).toEqual([1, 120]);
          expect(await counted(address)).toEqual({ 1: [2, 240], null: [1, 120] });
          expect(await held(whole(address))).toEqual(['mitigation 2', 'policy 1']);
          await edge.release([{ destination: address, generation: 1 }]);
          expect(await passes(ntp)).toBe(false);
          await edge.release([{ destination: address, generation: 2 }]);
          expect(await passes(ntp)).toBe(true);
          expect((await counted(address, 'mitigation'))[5]).toEqual([2, 240]);
        }
      });

      it('also stands where no policy does, in a trial too, and as a blackhole swallows all', async () => {
        const address = freshAddress(4);
        if (!edge.capabilities.includes('blackholes')) return;
        await edge.mitigate({ destination: address, generation: 1, measure: { kind: 'blackhole' } });
        expect(await passes(packet(address))).toBe(false);
        await edge.try([policy(address, 1, [rule(1, 'permit')])], 60);
        expect(await passes(packet(address))).toBe(false);
        expect((await counted(address, 'mitigation')).null).toEqual([2, 240]);
        const limit = { packetsPerSecond: 1, per: 'rule', burst: 3 } as const;
        const measure = { kind: 'filter', rules: [rule(4, 'permit', {}, limit)], exempt: [] } as const;
        await edge.mitigate({ destination: address, generation: 2, measure });
        const through = (await test.send(times(50, packet(address)))).filter(Boolean).length;
        expect(through >= 3 && through < 10, String(through)).toBe(true);
        expect(await packetsOf(address, 1)).toBe(through);
        await edge.release([{ destination: address, generation: 2 }]);
      });
    });

    // Where the machine stood still for longer than a burst, a second look tells.
    describe('a limit', { retry: 2 }, () => {
      const seconds = 5;
      /**
       * Sends four times what is allowed, and gives how much of the allowed got through once the burst was used up. Bursts are a
       * second's: a sender that has to wait for its turn makes up for it afterwards.
       */
      const share = async (packets: readonly Packet[], allowedPerSecond: number) => {
        const perSecond = packets.length / seconds;
        const arrived = await test.send(packets, { perSecond });
        const late = arrived.slice(Math.floor(arrived.length / 3));
        return late.filter(Boolean).length / (allowedPerSecond * (late.length / perSecond));
      };
      const near = (value: number) => expect(Math.abs(value - 1), String(value)).toBeLessThan(0.1);

      it.each(families)('of packets holds the rule to its rate (IPv%i)', async (family) => {
        const address = freshAddress(family);
        const limit = { packetsPerSecond: 500, per: 'rule', burst: 500 } as const;
        await edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)], { unmatched: 'deny' })]);
        const sent = times(2_000 * seconds, packet(address));
        near(await share(sent, 500));
        const [count] = (await edge.readRules([address])).filter((each) => each.rule === 1);
        expect([count?.packets, count?.bytes]).toEqual([sent.length, sent.length * 120]);
        const passed = sent.length - (count?.droppedPackets ?? 0);
        expect(passed >= 500 * seconds * 0.9 && passed <= 500 * seconds * 1.1 + 500, String(passed)).toBe(
          true,
        );
        expect(count?.droppedBytes).toBe((count?.droppedPackets ?? 0) * 120);
      });

      it('of bits holds it to that, whatever the length of packets', async () => {
        const address = freshAddress(4);
        const limit = { bitsPerSecond: 1_000 * 8 * 300, per: 'rule', burst: 200 } as const;
        await edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
        near(await share(times(4_000 * seconds, packet(address, { length: 300 })), 1_000));
      });

      it('of both rates holds to the lower', async () => {
        const address = freshAddress(4);
        const limit = { packetsPerSecond: 400, bitsPerSecond: 10_000_000, per: 'rule', burst: 400 } as const;
        await edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
        near(await share(times(1_600 * seconds, packet(address)), 400));
      });

      it.each(families)('by source gives each its own (IPv%i)', async (family) => {
        if (!edge.capabilities.includes('limits_by_source')) return;
        const address = freshAddress(family);
        const limit = { packetsPerSecond: 200, per: 'source', burst: 200 } as const;
        await edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
        const from = (nth: number) => (family === 4 ? `198.18.3.${nth}` : `2001:db8:3::${nth}`);
        const sent = Array.from({ length: 2_400 * seconds }, (_, nth) =>
          packet(address, { source: from((nth % 3) + 1) }),
        );
        near(await share(sent, 600));
        // One that was quiet has all of its own.
        expect(await passes(packet(address, { source: from(9) }))).toBe(true);
      });

      it('by destination gives each address of a network its own', async () => {
        const limit = { packetsPerSecond: 200, per: 'destination', burst: 200 } as const;
        await edge.replace([policy('10.210.0.0/24', 1, [rule(1, 'permit', {}, limit)])]);
        const sent = Array.from({ length: 1_600 * seconds }, (_, nth) => packet(`10.210.0.${(nth % 2) + 1}`));
        near(await share(sent, 400));
        expect(await passes(packet('10.210.0.9'))).toBe(true);
      });
    });

    it('counts what is sent to an address by kind, whatever becomes of it', async () => {
      for (const family of families) {
        const address = freshAddress(family);
        await edge.replace([policy(address, 1, [rule(1, 'deny', { protocols: [[17, 17]] })])]);
        const syn = packet(address, { protocol: 6, flags: ['syn'] });
        await test.send([
          ...times(5, packet(address, { ports: { source: 123, destination: 9 }, length: 468 })),
          ...times(2, packet(address)),
          ...times(3, syn),
          { ...syn, flags: ['syn', 'ack'] },
          ...times(4, packet(address, { ports: null, fragment: true })),
          packet(address, { protocol: 47, ports: null }),
        ]);
        const seen = (await edge.readTraffic()).addresses.filter((each) => each.address === address);
        expect(
          seen.map(({ kind, of, packets, bytes }) => `${kind} ${of} ${packets} ${bytes}`).toSorted(),
        ).toEqual([
          'fragment null 4 480',
          'protocol 17 11 3060',
          'protocol 47 1 120',
          'protocol 6 4 480',
          'reflection 123 5 2340',
          'syn null 3 360',
        ]);
      }
    });

    it('says that it has no samples where it does not claim to', async () => {
      if (edge.capabilities.includes('samples')) return;
      const error: EdgeError | null = await edge.readSamples().then(
        () => null,
        (each: EdgeError) => each,
      );
      expect([error?.code, error?.permanent]).toEqual(['not_supported', true]);
    });
  });
}

/** By the one function. */
function expectedCounts(wanted: Policy, sent: readonly Packet[]): Record<string, [number, number]> {
  const sums: Record<string, [number, number]> = Object.fromEntries(
    [...wanted.rules.map(({ id }) => id), null].map((id) => [String(id), [0, 0]]),
  );
  for (const one of sent) {
    const sum = sums[String(judge(wanted, one).rule?.id ?? null)];
    if (sum === undefined) continue;
    sum[0] += 1;
    sum[1] += one.length;
  }
  return sums;
}
