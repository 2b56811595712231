import { describe, expect, it } from 'vitest';
import type { Match, Packet, Policy } from '../contract.ts';
import { judge } from '../judge.ts';
import { cases } from './cases.testbed.ts';
import {
  expectedCounts,
  families,
  freshAddress,
  type Given,
  packet,
  policy,
  rule,
  whole,
} from './hands.testbed.ts';
import { chance, randomPacket, randomPolicy } from './random.testbed.ts';

/** What rules match, and which of them decides. */
export function describeMatches(given: Given, randomPackets: number): void {
  const { can, counted } = given;
  for (const bridged of [false, true]) {
    describe(bridged ? 'between two guests of one bridge' : 'from the world to a guest', () => {
      it.each(families)('matches what a rule says and nothing else, to a bit (IPv%i)', async (family) => {
        if (!can('rules') || (bridged && !can('bridged'))) return;
        const all = cases(family).map((each) => ({ ...each, address: freshAddress(family) }));
        await given.edge.replace(
          all.map(({ address, match }) => policy(address, 1, [rule(7, 'deny', match)])),
        );
        const hits = all.flatMap((each) =>
          each.hits.map((other) => ({ each, packet: packet(each.address, other) })),
        );
        const misses = all.flatMap((each) =>
          each.misses.map((other) => ({ each, packet: packet(each.address, other) })),
        );
        const sent = [...hits, ...misses];
        const arrived = await given.send(
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
    await given.edge.replace([
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
    expect(await given.send(sent)).toEqual([true, false, true, true, false]);
    if (!can('counters')) return;
    expect(await counted(address)).toEqual({
      9: [2, 240],
      8: [1, 120],
      1: [0, 0],
      2: [1, 120],
      null: [1, 120],
    });
  });

  it('keeps many neighbouring rules of sources and ports apart, also where they overlap', async () => {
    if (!can('rules')) return;
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
      await given.edge.replace([wanted]);
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
      expect(await given.send(sent)).toEqual(sent.map((one) => judge(wanted, one).action === 'permit'));
      expect(await counted(address)).toEqual(expectedCounts(wanted, sent));
    }
  });

  it('does to random packets by random policies what the one function says', async () => {
    if (!can('rules')) return;
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = chance(seed);
    const policies = Array.from({ length: Math.ceil(randomPackets / 100) }, (_, nth) =>
      randomPolicy(random, freshAddress(nth % 2 === 0 ? 4 : 6)),
    );
    await given.edge.replace(policies);
    const sent = policies.flatMap((each) =>
      Array.from({ length: 100 }, () => randomPacket(random, each.destination)),
    );
    const arrived = await given.send(sent);
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
    const counts = await given.edge.readRules(policies.map(({ destination }) => destination));
    for (const [nth, each] of policies.entries()) {
      const own = counts.filter(({ destination }) => destination === whole(each.destination));
      const sums = Object.fromEntries(
        own.map(({ rule, packets, bytes }) => [String(rule), [packets, bytes]]),
      );
      const expected = expectedCounts(each, sent.slice(nth * 100, nth * 100 + 100));
      expect(sums, `seed ${seed}`).toEqual(expected);
    }
  });
}
