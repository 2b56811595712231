import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AddressTraffic } from '../../drivers/edge/index.ts';
import { type Attack, follow, isAttack, judgeReading, type Reading } from './detect.ts';
import { type Limits, limitsOf } from './limits.ts';
import { type Amount, allOf, countedOf, nothingSeen, type Seen, seenSince } from './seen.ts';
import { nameOfAttack } from './words.ts';

const limits = (level: 'low' | 'medium' | 'high' = 'medium'): Limits => {
  const found = limitsOf(level, {});
  if (found === null) throw new Error('a level without limits');
  return found;
};
const amount = (packets: number, length: number): Amount => ({ packets, bytes: packets * length });
const t0 = Date.parse('2026-01-31T12:00:00Z');
const reading = (second: number, seen: Seen = nothingSeen): Reading => {
  return { at: new Date(t0 + second * 1_000), seconds: 1, seen };
};
const name = (seen: Seen, of: Limits = limits()) => {
  const found = judgeReading({ seen, seconds: 1 }, of);
  return found === null ? null : nameOfAttack(found);
};
const udpFrom = (port: number, packets: number, length: number): Seen => {
  const all = amount(packets, length);
  return { ...nothingSeen, udp: all, reflection: new Map([[port, all]]) };
};
const flood = { ...nothingSeen, udp: amount(50_000, 200) };

describe('what is an attack', () => {
  it('has a name of its own for each of nine kinds', () => {
    const fragmented = amount(50_000, 1_400);
    expect([
      name(flood),
      name({ ...nothingSeen, tcp: amount(50_000, 40), syn: amount(50_000, 40) }),
      name({ ...nothingSeen, icmp: amount(50_000, 84) }),
      name({ ...nothingSeen, udp: fragmented, fragments: fragmented }),
      name(udpFrom(53, 50_000, 1_200)),
      name(udpFrom(123, 50_000, 468)),
      name(udpFrom(389, 50_000, 1_400)),
      name(udpFrom(1900, 50_000, 320)),
      name(udpFrom(11211, 50_000, 1_400)),
    ]).toEqual([
      ...['UDP flood', 'TCP SYN flood', 'ICMP flood', 'Fragment flood', 'DNS reflection', 'NTP reflection'],
      ...['CLDAP reflection', 'SSDP reflection', 'memcached reflection'],
    ]);
    expect(name({ ...nothingSeen, tcp: amount(200_000, 40) })).toBe('TCP ACK flood');
    expect(name({ ...nothingSeen, other: amount(50_000, 100) })).toBe('Flood of other protocols');
    // Answers that come in parts are the reflection's.
    const whole = udpFrom(53, 30_000, 1_480);
    expect(name({ ...whole, udp: amount(60_000, 1_000), fragments: amount(55_000, 1_000) })).toBe(
      'DNS reflection',
    );
  });

  it('is no download, no speed test and no game', () => {
    const transfer = { ...nothingSeen, tcp: amount(800_000, 1_500), syn: amount(60, 60) };
    expect(name(transfer)).toBeNull();
    expect(name({ ...nothingSeen, udp: amount(30_000, 1_250) }), 'a download by QUIC').toBeNull();
    expect(name(udpFrom(1194, 15_000, 1_300)), 'a tunnel').toBeNull();
    expect(name({ ...nothingSeen, udp: amount(8_000, 120) }), 'a game').toBeNull();
    expect(name({ ...nothingSeen, tcp: amount(45_000, 60) }), 'what is acknowledged of a gigabit').toBeNull();
  });

  it('is judged by the level, by own limits before it, and by none where that is off', () => {
    const seen = { ...nothingSeen, udp: amount(10_000, 100) };
    expect([name(seen, limits('low')), name(seen), name(seen, limits('high'))]).toEqual([
      null,
      null,
      'UDP flood',
    ]);
    const own = limitsOf('medium', { udp: { pps: 9_000 } });
    expect(own?.udp).toEqual({ pps: 9_000, mbps: 300 });
    expect(own && name(seen, own)).toBe('UDP flood');
    expect(limitsOf('off', { udp: { pps: 1 } })).toBeNull();
  });
});

const amounts = fc
  .record({ packets: fc.nat(500_000), length: fc.integer({ min: 28, max: 1_500 }) })
  .map(({ packets, length }) => amount(packets, length));
/** Parts of a whole are within it. */
const seens = fc
  .record({
    ...{ tcp: amounts, udp: amounts, icmp: amounts, other: amounts },
    synShare: fc.double({ min: 0, max: 1, noNaN: true }),
    portShare: fc.double({ min: 0, max: 1, noNaN: true }),
    port: fc.constantFrom(53, 123, 389, 1194, 11211),
  })
  .map(({ synShare, portShare, port, ...whole }): Seen => {
    const part = (of: Amount, share: number) =>
      amount(Math.floor(of.packets * share), of.packets === 0 ? 0 : of.bytes / of.packets);
    const fragments = part(whole.udp, (1 - portShare) / 2);
    return {
      ...whole,
      syn: part(whole.tcp, synShare),
      fragments,
      reflection: new Map([[port, part(whole.udp, portShare)]]),
    };
  });
const times = (seen: Seen, by: number): Seen => {
  const more = ({ packets, bytes }: Amount) => ({ packets: packets * by, bytes: bytes * by });
  return {
    ...{ tcp: more(seen.tcp), udp: more(seen.udp), icmp: more(seen.icmp), other: more(seen.other) },
    ...{ syn: more(seen.syn), fragments: more(seen.fragments) },
    reflection: new Map([...seen.reflection].map(([port, each]) => [port, more(each)])),
  };
};

describe('a course of readings', () => {
  const run = (readings: readonly Reading[], of: Limits | null = limits()) => {
    let attack: Attack | null = null;
    const seen: (Attack | null)[] = [];
    for (const each of readings) {
      attack = follow(attack, each, of);
      seen.push(attack);
    }
    return seen;
  };

  it('is an attack from the second reading above a limit, one after the other', () => {
    const states = run([reading(1, flood), reading(2), reading(3, flood), reading(4, flood)]);
    expect(states.map((each) => each !== null && isAttack(each))).toEqual([false, false, false, true]);
    expect(states[3]).toMatchObject({
      kind: 'udp',
      startedAt: reading(3).at,
      packets: 100_000,
      peakPps: 50_000,
    });
  });

  it('ends after thirty quiet seconds, as of its last packet, and what comes then is another', () => {
    const quiet = Array.from({ length: 30 }, (_, nth) => reading(3 + nth));
    const states = run([
      reading(1, flood),
      reading(2, flood),
      ...quiet,
      reading(40, flood),
      reading(41, flood),
    ]);
    const ended = states.findIndex((each) => each?.endedAt != null);
    expect(states[ended]?.endedAt).toEqual(reading(2).at);
    expect(ended).toBe(31);
    expect(states.at(-1)).toMatchObject({ startedAt: reading(40).at, endedAt: null, readings: 2 });
  });

  it('is one attack while it goes on, also with pauses of less than that and under another name', () => {
    const syns = { ...nothingSeen, tcp: amount(90_000, 40), syn: amount(90_000, 40) };
    const readings = [
      ...[reading(1, flood), reading(2, flood)],
      ...Array.from({ length: 25 }, (_, nth) => reading(3 + nth)),
      ...[reading(28, syns), reading(29, syns)],
    ];
    const last = run(readings).at(-1);
    expect(last).toMatchObject({ kind: 'syn', startedAt: reading(1).at, endedAt: null, packets: 280_000 });
  });

  it('ends where nothing is to be an attack any more', () => {
    const [going] = run([reading(1, flood), reading(2, flood)]).slice(-1);
    expect(follow(going ?? null, reading(32, flood), null)?.endedAt).toEqual(reading(2).at);
  });

  it('keeps to its rules whatever comes', () => {
    const courses = fc.array(fc.oneof(seens, fc.constant(nothingSeen)), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(courses, fc.constantFrom('low', 'medium', 'high'), (course, level) => {
        const of = limits(level);
        const readings = course.map((seen, nth) => reading(nth, seen));
        const over = readings.map((each) => judgeReading(each, of) !== null);
        const states = run(readings, of);
        for (const [nth, state] of states.entries()) {
          const before = states[nth - 1] ?? null;
          const wasGoing = before !== null && before.endedAt === null && isAttack(before);
          const isGoing = state !== null && state.endedAt === null && isAttack(state);
          // It begins with two in a row, and with nothing else.
          if (!wasGoing) expect(isGoing).toBe(nth > 0 && over[nth] === true && over[nth - 1] === true);
          // It ends with thirty without, and with nothing else.
          if (wasGoing) {
            const since = readings.slice(Math.max(0, nth - 29), nth + 1);
            const isQuiet = since.length === 30 && over.slice(nth - 29, nth + 1).every((each) => !each);
            expect(isGoing).toBe(!isQuiet);
          }
          if (state === null) continue;
          // What it says of itself was so.
          const whole = readings.slice(0, nth + 1).map((each) => allOf(each.seen).packets);
          expect(state.peakPps).toBeLessThanOrEqual(Math.max(...whole));
          expect(state.packets).toBeLessThanOrEqual(whole.reduce((one, other) => one + other));
          expect(state.startedAt <= state.lastOverAt).toBe(true);
          if (wasGoing && state.endedAt === null) expect(state.ratio).toBeGreaterThanOrEqual(before.ratio);
        }
      }),
    );
  });

  it('is no less of an attack the more of the same comes, or the higher the sensitivity', () => {
    fc.assert(
      fc.property(seens, fc.integer({ min: 1, max: 50 }), (seen, by) => {
        const at = (level: 'low' | 'medium' | 'high', of: Seen) =>
          judgeReading({ seen: of, seconds: 1 }, limits(level));
        if (at('low', seen) !== null) expect(at('medium', seen)).not.toBeNull();
        if (at('medium', seen) !== null) {
          expect(at('high', seen)).not.toBeNull();
          expect(at('medium', times(seen, by))).not.toBeNull();
        }
      }),
    );
  });

  it('does not depend on how long a reading takes', () => {
    fc.assert(
      fc.property(seens, fc.integer({ min: 1, max: 60 }), (seen, seconds) => {
        const short = judgeReading({ seen, seconds: 1 }, limits());
        const long = judgeReading({ seen: times(seen, seconds), seconds }, limits());
        expect(long?.kind).toBe(short?.kind);
      }),
    );
  });
});

describe('what came between two readings', () => {
  const count = (packets: number, change: Partial<AddressTraffic> = {}): AddressTraffic => {
    return { address: '203.0.113.10', kind: 'protocol', of: 17, packets, bytes: packets * 100, ...change };
  };
  const between = (before: AddressTraffic[], now: AddressTraffic[]) =>
    seenSince(countedOf({ addresses: before, full: [] }), countedOf({ addresses: now, full: [] }));

  it('is the difference, by address; what stood still is left out', () => {
    const other = count(7, { address: '203.0.113.11' });
    const seen = between([count(100), other], [count(160), other]);
    expect([...seen.keys()]).toEqual(['203.0.113.10']);
    expect(seen.get('203.0.113.10')).toEqual({ ...nothingSeen, udp: { packets: 60, bytes: 6_000 } });
  });

  it('is all of it where a count began anew', () => {
    expect(between([count(100)], [count(30)]).get('203.0.113.10')?.udp.packets).toBe(30);
    expect(
      between([], [count(5, { kind: 'reflection', of: 53 })])
        .get('203.0.113.10')
        ?.reflection.get(53),
    ).toEqual({
      packets: 5,
      bytes: 500,
    });
  });
});
