import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kinds } from '../addresses/words.ts';
import { explainLimits, hoursToLearn, limitsFor, limitsOf, type Terms, type Usual } from './limits.ts';

const usual = (change: Partial<Usual> = {}): Usual => ({
  ...{ hours: hoursToLearn, since: '2026-01-01T00:00:00Z', pps: 100, mbps: 1 },
  ...change,
});
const terms = (change: Partial<Terms> = {}): Terms => ({
  ...{ level: 'medium', thresholds: {}, product_thresholds: {}, usual: null },
  ...change,
});

describe('the limits of an address', () => {
  it('are its owner’s, else its product’s, else those of its own weeks, else the level’s; and say whose they are', () => {
    const found = explainLimits(
      terms({
        thresholds: { udp: { pps: 7 } },
        product_thresholds: { udp: { pps: 8, mbps: 9 }, syn: { pps: 10 } },
        usual: usual({ pps: 10_000, mbps: 200 }),
      }),
    );
    expect(found?.udp).toEqual({ pps: { value: 7, by: 'own' }, mbps: { value: 9, by: 'product' } });
    expect(found?.syn).toEqual({ pps: { value: 10, by: 'product' }, mbps: { value: 50, by: 'level' } });
    expect(found?.ack.pps).toEqual({ value: 80_000, by: 'level' });
    expect(found?.other).toEqual({
      pps: { value: 50_000, by: 'usual' },
      mbps: { value: 1_000, by: 'usual' },
    });
    expect(found?.total).toEqual({
      pps: { value: 50_000, by: 'usual' },
      mbps: { value: 1_000, by: 'usual' },
    });
  });

  it('are not moved by less than two weeks of hours, nor those of what is rare by any', () => {
    const busy = { pps: 1e6, mbps: 1e4 };
    expect(limitsFor(terms({ usual: usual({ ...busy, hours: hoursToLearn - 1 }) }))).toEqual(
      limitsOf('medium', {}),
    );
    const moved = limitsFor(terms({ usual: usual(busy) }));
    const fixed = limitsOf('medium', {});
    for (const kind of ['fragments', 'reflection', 'syn', 'icmp'] as const)
      expect(moved?.[kind]).toEqual(fixed?.[kind]);
    expect(moved?.udp).toEqual({ pps: 200_000, mbps: 3_000 });
  });

  it('are moved within bounds, by more the more there usually is, and never so that less of one kind counts', () => {
    const rate = fc.double({ min: 0, max: 1e7, noNaN: true });
    fc.assert(
      fc.property(rate, rate, fc.constantFrom('low', 'medium', 'high'), (one, other, level) => {
        const at = (pps: number) => limitsFor(terms({ level, usual: usual({ pps, mbps: pps / 1_000 }) }));
        const fixed = limitsOf(level, {});
        const [less, more] = [at(Math.min(one, other)), at(Math.max(one, other))];
        for (const kind of kinds) {
          for (const unit of ['pps', 'mbps'] as const) {
            const [set, low, high] = [fixed?.[kind][unit], less?.[kind][unit], more?.[kind][unit]];
            if (set == null || low == null || high == null) {
              expect([low, high]).toEqual([set, set]);
              continue;
            }
            expect(low).toBeLessThanOrEqual(high);
            expect(high).toBeLessThanOrEqual(Math.ceil(set * 10));
            expect(low).toBeGreaterThanOrEqual(kind === 'total' ? set / 4 : set);
          }
        }
      }),
    );
  });
});
