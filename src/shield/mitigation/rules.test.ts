import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeOf, type Packet } from '../../drivers/edge/index.ts';
import { kinds } from '../addresses/words.ts';
import { limitsOf } from '../watch/limits.ts';
import type { Mitigation } from './defence.ts';
import { ladders, measures } from './measures.ts';
import { filterOf, ruleFor } from './rules.ts';

const mitigation = (change: Partial<Mitigation>): Mitigation => ({
  ...{ id: 1, attackId: 1, kind: 'udp', measure: 'limit_sources', ports: [] },
  why: { arrived: { pps: 1, mbps: 1 }, past: null, limit: { pps: 1, mbps: 1 } },
  ...{ startedAt: new Date(0), inForceSince: null, dropped: { packets: 0, bytes: 0 }, error: null },
  ...{ edgeId: null, until: null, releasedAt: null, because: null },
  ...change,
});
const steps = kinds.flatMap((kind) => ladders[kind].map((measure) => ({ kind, measure })));
const standings = fc
  .tuple(fc.subarray(steps, { minLength: 1 }), fc.subarray([53, 123, 389, 11_211], { minLength: 1 }))
  .map(([some, ports]) =>
    some.map((each) => mitigation({ ...each, ports: each.kind === 'reflection' ? ports : [] })),
  );
const limits = limitsOf('medium', {});
const terms = (family: 4 | 6, change = {}) => ({ family, limits, exempt: [], spared: [], ...change });
const packets: fc.Arbitrary<Packet> = fc
  .record({
    source: fc.constantFrom('198.51.100.9', '192.0.2.4'),
    destination: fc.constant('203.0.113.10'),
    protocol: fc.constantFrom(1, 6, 17, 47),
    ports: fc.constant(null),
    flags: fc.constant(null),
    ...{ dscp: fc.constant(0), ecn: fc.constant(0), ttl: fc.constant(60) },
    ...{ length: fc.integer({ min: 40, max: 1_500 }), fragment: fc.boolean() },
  })
  .chain((packet) => {
    if (packet.protocol !== 6 && packet.protocol !== 17) return fc.constant(packet as Packet);
    const ports = fc.record({
      source: fc.constantFrom(53, 123, 443, 40_000),
      destination: fc.constantFrom(22, 443),
    });
    const flags =
      packet.protocol === 6 ? fc.subarray(['syn', 'ack', 'fin', 'rst'] as const) : fc.constant(null);
    return fc.tuple(ports, flags).map(([p, f]) => ({ ...packet, ports: p, flags: f }) as Packet);
  });

describe('the filter of what stands', () => {
  it('limits senders and never a destination, and drops no connection that somebody opens', () => {
    fc.assert(
      fc.property(standings, fc.constantFrom(4 as const, 6 as const), (standing, family) => {
        for (const { limit } of filterOf(standing, terms(family))?.rules ?? []) {
          if (limit !== null) expect(limit.per).toBe('source');
        }
        const filter = filterOf(standing, terms(family));
        const syns = filter?.rules.filter(
          ({ match }) => match.flags?.syn === true && match.flags.ack === false,
        );
        for (const { limit } of syns ?? []) if (limit !== null) expect(limit.beyond).toBe('permitted');
      }),
    );
    const judge = judgeOf({
      rules:
        filterOf(
          kinds.flatMap((kind) =>
            ladders[kind].map((measure) => mitigation({ kind, measure, ports: [53, 123, 389] })),
          ),
          terms(4),
        )?.rules ?? [],
      unmatched: 'permit',
    });
    const syn: Packet = {
      ...{
        source: '198.51.100.9',
        destination: '203.0.113.10',
        protocol: 6,
        flags: ['syn'],
        fragment: false,
      },
      ...{ ports: { source: 40_000, destination: 443 }, dscp: 0, ecn: 0, ttl: 60, length: 60 },
    };
    expect(judge(syn).action).toBe('permit');
  });

  it('counts each packet that goes past it once, and says of each rule what it is for', () => {
    fc.assert(
      fc.property(standings, packets, (standing, packet) => {
        const rules = filterOf(standing, terms(4))?.rules ?? [];
        expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
        const { action, rule } = judgeOf({ rules, unmatched: 'permit' })(packet);
        const id = rule?.id ?? 0;
        expect(id).toBeGreaterThan(0);
        const about = ruleFor(id);
        expect(about.is === 'drop').toBe(action === 'deny');
        if (about.is === 'drop' || about.is === 'limit')
          expect(standing.some(({ kind, measure }) => kind === about.kind && measure === about.measure)).toBe(
            true,
          );
        else expect(about.is).toBe('past');
      }),
    );
  });

  it('lets past who is spared, before anything is dropped, and counts that by kind', () => {
    const standing = [
      mitigation({ kind: 'reflection', measure: 'drop_answers', ports: [53] }),
      mitigation({ kind: 'fragments', measure: 'drop_fragments' }),
    ];
    fc.assert(
      fc.property(packets, (packet) => {
        const rules =
          filterOf(standing, terms(4, { spared: ['192.0.2.0/24'], exempt: ['192.0.2.0/25'] }))?.rules ?? [];
        const { action, rule } = judgeOf({ rules, unmatched: 'permit' })({ ...packet, source: '192.0.2.4' });
        expect([action, ruleFor(rule?.id ?? 0).is]).toEqual(['permit', 'spared']);
      }),
    );
  });

  it('knows a sentence for every measure, and a measure for every kind', () => {
    expect(new Set(kinds.flatMap((kind) => ladders[kind]))).toEqual(
      new Set(measures.filter((each) => each !== 'flowspec' && each !== 'blackhole')),
    );
  });
});
