import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Counted, trafficBetween } from './traffic.ts';

const began = new Date('2026-01-31T12:00:00Z');
const turn = 1n << 64n;
const counter = fc.bigInt({ min: 0n, max: turn - 1n });
const uptime = fc.integer({ min: 0, max: 2 ** 42 });
const elapsed = fc.integer({ min: 1, max: 400 * 86_400_000 });
const speed = fc.option(fc.constantFrom(10, 1_000, 10_000, 100_000), { nil: null });

function counted(
  afterMs: number,
  uptimeMs: number,
  speedMbps: number | null,
  into: bigint,
  out = into,
): Counted {
  return { at: new Date(began.getTime() + afterMs), uptimeMs, speedMbps, counters: { in: into, out } };
}
/** The most that a port carries in this time, and two seconds more. */
const mostIn = (ms: number, mbps: number) => BigInt(mbps) * 125n * (BigInt(ms) + 2_000n);

describe('what went through a port', () => {
  it('is what was carried, to the byte, also when a counter turns over', () => {
    fc.assert(
      fc.property(counter, fc.nat(2 ** 31), fc.nat(2 ** 31), uptime, (start, moreIn, moreOut, up) => {
        const from = counted(0, up, 100_000, start);
        const to = counted(
          300_000,
          up + 300_000,
          100_000,
          (start + BigInt(moreIn)) % turn,
          (start + BigInt(moreOut)) % turn,
        );
        expect(trafficBetween(from, to)).toEqual({ in: BigInt(moreIn), out: BigInt(moreOut) });
      }),
    );
  });

  it('is never negative, and never more than the port can carry, whatever a switch says', () => {
    fc.assert(
      fc.property(
        ...([
          counter,
          counter,
          counter,
          counter,
          uptime,
          uptime,
          elapsed,
          fc.constantFrom(10, 1_000, 100_000),
        ] as const),
        (in1, out1, in2, out2, up1, up2, ms, mbps) => {
          const found = trafficBetween(counted(0, up1, mbps, in1, out1), counted(ms, up2, mbps, in2, out2));
          for (const way of [found?.in ?? 0n, found?.out ?? 0n]) {
            expect(way >= 0n).toBe(true);
            expect(way <= mostIn(ms, mbps)).toBe(true);
          }
        },
      ),
    );
  });

  it('of a switch that began anew is what a counter that fell counted since, and nothing of what it had before', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 2n ** 48n, max: turn - 1n }),
        fc.nat(2 ** 30),
        fc.nat(250_000),
        (before, since, up) => {
          const from = counted(0, up + 1, 10_000, before);
          const to = counted(300_000, up, 10_000, BigInt(since));
          expect(trafficBetween(from, to)?.in).toBe(BigInt(since));
        },
      ),
    );
  });

  it('is what was carried where the switch says to be up for less, and its counters ran on', () => {
    fc.assert(
      fc.property(counter, fc.nat(2 ** 30), fc.nat(250_000), (before, more, up) => {
        fc.pre(before + BigInt(more) < turn);
        const from = counted(0, up + 1, 10_000, before);
        const to = counted(300_000, up, 10_000, before + BigInt(more));
        expect(trafficBetween(from, to)?.in).toBe(BigInt(more));
      }),
    );
  });

  it('is not known of a counter that went back without a new beginning', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 41n, max: 2n ** 63n }), uptime, speed, (before, up, mbps) => {
        const from = counted(0, up, mbps, before);
        const to = counted(300_000, up + 300_000, mbps, before - 2n ** 40n);
        expect(trafficBetween(from, to)).toBeNull();
      }),
    );
  });

  it('is not known without counters, nor of two readings of one moment', () => {
    const one = counted(0, 1_000, 1_000, 5n);
    const other = counted(300_000, 301_000, 1_000, 9n);
    expect(trafficBetween({ ...one, counters: null }, other)).toBeNull();
    expect(trafficBetween(one, { ...other, counters: null })).toBeNull();
    expect(trafficBetween(one, { ...other, at: one.at })).toBeNull();
    expect(trafficBetween(other, one)).toBeNull();
  });

  it('over parts adds up to what it is over the whole, while the switch runs on', () => {
    fc.assert(
      fc.property(counter, fc.array(fc.nat(2 ** 30), { minLength: 1, maxLength: 20 }), (start, steps) => {
        let at = counted(0, 1_000, 100_000, start);
        let sum = 0n;
        const first = at;
        for (const [nth, step] of steps.entries()) {
          const ms = (nth + 1) * 60_000;
          const next = counted(ms, 1_000 + ms, 100_000, ((at.counters?.in ?? 0n) + BigInt(step)) % turn);
          sum += trafficBetween(at, next)?.in ?? -1n;
          at = next;
        }
        expect(trafficBetween(first, at)?.in).toBe(sum);
      }),
    );
  });
});
