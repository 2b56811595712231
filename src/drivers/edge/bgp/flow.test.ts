import { describe, expect, it } from 'vitest';
import type { Action, EdgeError, Match, Packet, Policy, Rule } from '../contract.ts';
import { judge } from '../judge.ts';
import { parsePrefix } from '../prefix.ts';
import { cases } from '../suite/cases.testbed.ts';
import { families, packet, policy, rule } from '../suite/hands.testbed.ts';
import { chance, randomPacket, randomPolicy } from '../suite/random.testbed.ts';
import { type Change, changesOf, tableOf } from './changes.ts';
import { decodeFlow } from './nlri.ts';
import { type Announced, routed } from './router.testbed.ts';
import { checkTogether, fittingOf, type Told, toldOfFilter, toldOfPolicy } from './told.ts';

const guest = { 4: '10.7.0.1', 6: '2001:db8:7:7::1' } as const;

function tell(wanted: Policy): Told[] {
  return toldOfPolicy(wanted, parsePrefix(wanted.destination));
}

/** Null where it is refused, and then as `not_supported`. */
function tryToTell(wanted: Policy): Told[] | null {
  try {
    return tell(wanted);
  } catch (error) {
    expect((error as EdgeError).code).toBe('not_supported');
    return null;
  }
}

function refusal(rules: readonly Rule[], other: Partial<Policy> & { family?: 4 | 6 } = {}): string {
  const { family = 4, ...rest } = other;
  try {
    tell(policy(guest[family], 1, rules, rest));
  } catch (error) {
    const { code, message } = error as EdgeError;
    return `${code}: ${message}`;
  }
  return 'none';
}

/** Of what customers write, few rules each, so that many of them fit. */
function randomOf(random: () => number, family: 4 | 6): Policy {
  const drawn = randomPolicy(random, guest[family]);
  const most = 1 + Math.floor(random() * 4);
  const rules = drawn.rules.slice(0, most).map((each): Rule => {
    const { ttl, ecn, fragment, ...match } = each.match;
    const isSaid = random() < 0.9;
    return {
      ...each,
      match: isSaid
        ? { ...match, ...(family === 4 && fragment !== undefined ? { fragment } : {}) }
        : each.match,
    };
  });
  return { ...drawn, rules };
}

const table = (rows: readonly Told[], family: 4 | 6) =>
  tableOf(rows.map(({ bytes, action }) => ({ family, bytes, action })));
const rowsOf = (rows: Iterable<Change>): Announced[] =>
  [...rows].map(({ bytes, action }) => ({ bytes, action: action as Action }));

describe('a policy in FlowSpec', () => {
  it('is in the bytes of RFC 8955 and RFC 8956', () => {
    const said = (family: 4 | 6, match: Match) =>
      tell(policy(family === 4 ? '192.0.2.0/24' : '2001:db8::/36', 1, [rule(1, 'deny', match)])).map(
        ({ bytes }) => bytes.toString('hex'),
      );
    const tcp: Match = { protocols: [[6, 6]] };
    expect(said(4, { ...tcp, destinationPorts: [[25, 25]] })).toEqual(['0b0118c00002' + '038106' + '058119']);
    expect(
      said(4, {
        sources: ['203.0.113.0/24'],
        destinationPorts: [
          [137, 139],
          [8080, 8080],
        ],
      }),
    ).toEqual(['120118c00002' + '0218cb0071' + '05' + '0389' + '458b' + '911f90']);
    expect(said(4, { flags: { syn: true, ack: false } })).toEqual(['0a0118c00002' + '0901' + '02' + 'c210']);
    expect(said(4, { fragment: true })).toEqual(['080118c00002' + '0c8006']);
    expect(said(4, { fragment: false })).toEqual(['080118c00002' + '0c8206']);
    expect(said(6, { lengths: [[1_281, 65_575]] })).toEqual(['0c01240020010db800' + '0a930501']);
  });

  it.each(families)('matches what its rules say and nothing else, to a bit (IPv%i)', (family) => {
    let told = 0;
    for (const { says, match, hits, misses } of cases(family)) {
      const flows = tryToTell(policy(guest[family], 1, [rule(7, 'deny', match)]));
      if (flows === null) continue;
      told += 1;
      const does = (other: Partial<Packet>) => routed(flows, packet(guest[family], other));
      expect(hits.map(does), says).toEqual(hits.map(() => 'deny'));
      expect(misses.map(does), says).toEqual(misses.map(() => 'permit'));
    }
    expect(told).toBeGreaterThan(25);
  });

  it.each(families)('does to random packets what the one function says, or is refused (IPv%i)', (family) => {
    const seed = Date.now() % 1_000_000;
    const random = chance(seed);
    let [told, denied, routes] = [0, 0, 0];
    for (let nth = 0; nth < 800; nth += 1) {
      const wanted = randomOf(random, family);
      const flows = tryToTell(wanted);
      if (flows === null) continue;
      told += 1;
      routes += flows.length;
      for (const { bytes, flow } of flows) expect(decodeFlow(bytes, family)).toEqual(flow);
      for (let of = 0; of < 20; of += 1) {
        const one = randomPacket(random, guest[family]);
        const action = judge(wanted, one).action;
        if (routed(flows, one) !== action)
          expect.fail(`seed ${seed}: ${JSON.stringify(one)} is not ${action} by ${JSON.stringify(wanted)}`);
        if (action === 'deny') denied += 1;
      }
    }
    // No test of itself, when everything is refused or nothing denied.
    expect([told > 150, denied > 600, routes > 150], `${told} ${denied} ${routes}`).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('is replaced so that each packet meets the one before or the one after', () => {
    const seed = Date.now() % 1_000_000;
    const random = chance(seed);
    let steps = 0;
    for (let nth = 0; nth < 300; nth += 1) {
      const [before, after] = [randomOf(random, 4), randomOf(random, 4)];
      const [from, to] = [tryToTell(before), tryToTell(after)];
      if (from === null || to === null) continue;
      const now = new Map(table(from, 4));
      const packets = Array.from({ length: 15 }, () => randomPacket(random, guest[4]));
      for (const change of changesOf(table(from, 4), table(to, 4))) {
        steps += 1;
        const key = `4 ${change.bytes.toString('hex')}`;
        if (change.action === null) now.delete(key);
        else now.set(key, { ...change, action: change.action });
        for (const one of packets) {
          const either = [judge(before, one).action, judge(after, one).action];
          expect(either, `seed ${seed}`).toContain(routed(rowsOf(now.values()), one));
        }
      }
      expect([...now.keys()].toSorted()).toEqual([...table(to, 4).keys()].toSorted());
    }
    expect(steps).toBeGreaterThan(40);
  });

  it('leaves out what passes anyway, and tells nothing twice', () => {
    const web: Match = { protocols: [[6, 6]], destinationPorts: [[80, 80]] };
    expect(tell(policy(guest[4], 1, [rule(1, 'permit', web), rule(2, 'permit')]))).toEqual([]);
    const rules = [rule(1, 'permit', web), rule(2, 'deny', { protocols: [[17, 17]] }), rule(3, 'permit')];
    expect(tell(policy(guest[4], 1, rules)).map(({ says }) => says)).toEqual(['rule 2']);
    expect(
      tell(policy(guest[4], 1, [rule(1, 'deny', web), rule(2, 'permit', web)], { unmatched: 'deny' })),
    ).toEqual([
      expect.objectContaining({ action: 'deny', says: 'rule 1' }),
      expect.objectContaining({ action: 'deny', says: 'what no rule matches' }),
    ]);
  });

  it('is refused with the reason where FlowSpec has no words for it', () => {
    const limit = { packetsPerSecond: 1_000, per: 'source', burst: 10 } as const;
    expect(refusal([rule(3, 'permit', {}, limit)])).toMatch(/^not_supported: rule 3: .*no limit.*by source/);
    expect(refusal([rule(3, 'deny', { ttl: [[0, 5]] })])).toBe(
      'not_supported: rule 3: FlowSpec does not look at the TTL',
    );
    expect(refusal([rule(3, 'deny', { ecn: [[3, 3]] })])).toContain('ECN');
    expect(
      refusal([
        rule(3, 'deny', {
          ttl: [
            [0, 100],
            [101, 255],
          ],
          ecn: [[0, 3]],
        }),
      ]),
    ).toBe('none');
    expect(refusal([rule(3, 'deny', { fragment: true })], { family: 6 })).toContain('fragment header');
    expect(refusal([rule(3, 'deny', { lengths: [[65_536, 65_540]] })], { family: 6 })).toContain('65535');
    expect(refusal([rule(3, 'deny', { lengths: [[100, 65_575]] })], { family: 6 })).toBe('none');
    const odd = Array.from({ length: 60 }, (_, nth): [number, number] => [2_001 + nth * 4, 2_002 + nth * 4]);
    expect(refusal([rule(3, 'deny', { destinationPorts: odd })])).toMatch(/rule 3: .*too many/);
  });

  it('is refused where routers would look at its rules in another order, and only there', () => {
    const fromOne: Match = { sources: ['198.18.2.5'] };
    const udp: Match = { protocols: [[17, 17]] };
    expect(refusal([rule(1, 'permit', fromOne), rule(2, 'deny', udp)])).toBe('none');
    expect(refusal([rule(2, 'deny', udp), rule(1, 'permit', fromOne)], { unmatched: 'deny' })).toBe(
      'not_supported: routers would look at rule 1 before rule 2',
    );
    // Nothing is denied behind the permit, which therefore is not told.
    expect(refusal([rule(2, 'deny', udp), rule(1, 'permit', fromOne)])).toBe('none');
    expect(refusal([rule(2, 'deny', udp), rule(1, 'deny', fromOne)], { unmatched: 'deny' })).toBe('none');
    const tcpFromOne: Match = { ...fromOne, protocols: [[6, 6]] };
    expect(refusal([rule(2, 'deny', udp), rule(1, 'permit', tcpFromOne)], { unmatched: 'deny' })).toBe(
      'none',
    );
  });

  it('goes together with a measure where the two can be one table', () => {
    const network = parsePrefix(guest[4]);
    const ntp: Match = { protocols: [[17, 17]], sourcePorts: [[123, 123]] };
    const measure = (exempt: string[] = []) =>
      toldOfFilter({ kind: 'filter', rules: [rule(1, 'deny', ntp)], exempt }, network);
    const of = (rules: readonly Rule[], other: Partial<Policy> = {}) =>
      tell(policy(guest[4], 1, rules, other));
    const udp = rule(5, 'permit', { protocols: [[17, 17]] });
    const game = rule(6, 'permit', { protocols: [[17, 17]], destinationPorts: [[27_015, 27_015]] });
    const closed = { unmatched: 'deny' } as const;
    expect(() => checkTogether(measure(), of([udp]))).not.toThrow();
    expect(() => checkTogether(measure(), of([game]))).not.toThrow();
    expect(() => checkTogether(measure(), of([udp], closed))).not.toThrow();
    expect(() => checkTogether(measure(), of([game], closed))).toThrow(/rule 6 of the policy before rule 1/);
    expect(() => checkTogether(measure(), of([rule(6, 'permit', ntp)], closed))).not.toThrow();
    expect(() => checkTogether(measure(['198.18.0.0/15']), of([]))).not.toThrow();
    expect(() => checkTogether(measure(['198.18.0.0/15']), of([game], closed))).toThrow(
      /exempt 198.18.0.0\/15/,
    );
  });
});

describe('what fits of a policy', () => {
  const told = (wanted: Policy) => fittingOf(wanted, parsePrefix(wanted.destination));

  it('drops nothing that all of it would let through, and all that it drops where nothing was left out', () => {
    const random = chance(20_260_131);
    const found = { whole: 0, part: 0, nothing: 0, dropped: 0 };
    for (let nth = 0; nth < 150; nth += 1) {
      const family = families[nth % 2] ?? 4;
      const wanted = randomPolicy(random, guest[family]);
      const { policy: fitting, left } = told(wanted);
      const rows = rowsOf(table(tell(fitting), family).values());
      found[left.length === 0 ? 'whole' : rows.length > 0 ? 'part' : 'nothing'] += 1;
      for (let sent = 0; sent < 50; sent += 1) {
        const one = randomPacket(random, guest[family]);
        const [here, there] = [judge(wanted, one).action, routed(rows, one)];
        if (there === 'deny') expect(here).toBe('deny');
        if (left.length === 0) expect(there).toBe(here);
        found.dropped += there === 'deny' ? 1 : 0;
      }
    }
    // It says something of each.
    for (const [of, count] of Object.entries(found)) expect(count, of).toBeGreaterThan(5);
  });

  it('says of each rule that is left out why it is', () => {
    const limit = { packetsPerSecond: 5, per: 'source', burst: 5 } as const;
    const { policy: fitting, left } = told(
      policy(
        guest[4],
        1,
        [
          rule(1, 'deny', { protocols: [[17, 17]] }),
          rule(2, 'deny', { ttl: [[0, 5]] }),
          rule(3, 'permit', { protocols: [[6, 6]] }, limit),
          rule(4, 'deny', { protocols: [[47, 47]] }),
        ],
        { unmatched: 'deny' },
      ),
    );
    expect(fitting.rules.map(({ id }) => id)).toEqual([1]);
    expect(fitting.unmatched).toBe('permit');
    expect(left).toEqual([
      { rule: 2, why: expect.stringContaining('rule 2') },
      { rule: 3, why: expect.stringContaining('rule 3') },
      { rule: 4, why: 'it comes after rule 3' },
      { rule: null, why: 'it comes after rule 3' },
    ]);
  });
});
