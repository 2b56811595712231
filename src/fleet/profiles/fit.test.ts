import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestFit, fits, type Measured, type Rules } from './fit.ts';

const disk = (kind: 'nvme' | 'ssd' | 'hdd', gb: number, nth = 0) => ({
  ...{ serial: `${kind}-${gb}-${nth}`, model: 'M', firmware: '1', healthy: true },
  ...{ kind, bytes: Math.round(gb * 1e9) },
});
const server = (change: Partial<Measured> = {}): Measured => ({
  system: { uuid: 'u', vendor: 'Dell Inc.', product: 'PowerEdge R6515', serial: 's' },
  processor: { model: 'EPYC', sockets: 1, cores: 8, threads: 16 },
  memoryMib: 64_300,
  memoryModules: [0, 1].map((slot) => ({ slot: String(slot), mib: 32_768, type: 'DDR4' })),
  disks: [disk('nvme', 960.197), disk('nvme', 960.197, 1)],
  portMbps: null,
  ...change,
});
const open: Rules = { threads: null, memory_gib: null, model: null, disks: null, port_mbps: null };
const whole: Rules = {
  ...{ threads: 16, memory_gib: 64, model: 'poweredge r6515' },
  disks: [{ kind: 'nvme', gb: 960, count: 2 }],
  port_mbps: null,
};

describe('a profile', () => {
  it('fits a server as it is sold', () => {
    expect(fits(whole, server())).toBe(true);
    // Its modules say nothing: then it is what the kernel sees, which is less.
    expect(fits(whole, server({ memoryModules: [] }))).toBe(true);
  });

  it.each<[string, Partial<Measured>]>([
    ['fewer threads', { processor: { model: 'EPYC', sockets: 1, cores: 8, threads: 8 } }],
    ['a module less', { memoryModules: [{ slot: '0', mib: 32_768, type: 'DDR4' }] }],
    ['half the memory, by what the kernel sees', { memoryModules: [], memoryMib: 32_000 }],
    ['more memory, by what the kernel sees', { memoryModules: [], memoryMib: 66_000 }],
    [
      'another model',
      { system: { uuid: 'u', vendor: 'Dell Inc.', product: 'PowerEdge R7515', serial: 's' } },
    ],
    ['a disk less', { disks: [disk('nvme', 960)] }],
    ['a disk more', { disks: [0, 1, 2].map((nth) => disk('nvme', 960, nth)) }],
    ['another size', { disks: [disk('nvme', 960), disk('nvme', 1_920)] }],
    ['another kind', { disks: [disk('nvme', 960), disk('ssd', 960)] }],
    ['a disk of another kind beside', { disks: [...server().disks, disk('hdd', 4_000)] }],
  ])('does not fit one with %s', (_, change) => {
    expect(fits(whole, server(change))).toBe(false);
  });

  it('takes each disk for the size that is nearest, so that two sizes that are near each other stay two', () => {
    const rules = {
      ...open,
      disks: [
        { kind: 'ssd' as const, gb: 960, count: 1 },
        { kind: 'ssd' as const, gb: 980, count: 1 },
      ],
    };
    expect(fits(rules, server({ disks: [disk('ssd', 980), disk('ssd', 960)] }))).toBe(true);
    expect(fits(rules, server({ disks: [disk('ssd', 961), disk('ssd', 960)] }))).toBe(false);
  });

  it('that leaves something open fits whatever that is', () => {
    expect(fits({ ...open, threads: 16 }, server({ disks: [], memoryMib: 1 }))).toBe(true);
    expect(fits({ ...open, disks: [] }, server({ disks: [] }))).toBe(true);
    expect(fits({ ...open, disks: [] }, server())).toBe(false);
  });
});

describe('the speed of a port', () => {
  const rules: Rules = { ...open, port_mbps: 10_000 };

  it('is that of its addresses, exactly', () => {
    expect(fits(rules, server({ portMbps: 10_000 }))).toBe(true);
    expect(fits(rules, server({ portMbps: 25_000 }))).toBe(false);
    expect(fits(rules, server({ portMbps: 1_000 }))).toBe(false);
  });

  it('that nobody knows fits a profile that leaves it open, and no other', () => {
    expect(fits(rules, server())).toBe(false);
    expect(fits({ ...open, threads: 16 }, server())).toBe(true);
  });
});

describe('of several profiles', () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  const rules: fc.Arbitrary<Rules> = fc.record({
    ...{ threads: maybe(fc.constantFrom(8, 16)), memory_gib: maybe(fc.constantFrom(32, 64)) },
    model: maybe(fc.constantFrom('PowerEdge R6515', 'Other')),
    disks: maybe(fc.constantFrom([{ kind: 'nvme' as const, gb: 960, count: 2 }], [])),
    port_mbps: maybe(fc.constantFrom(1_000)),
  });
  const said = (each: Rules) => Object.values(each).filter((rule) => rule !== null).length;

  it('it is the one that says most and fits, and the same whatever came later', () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 8 }), rules, (all, later) => {
        const best = bestFit(all, server());
        const fitting = all.filter((each) => fits(each, server()));
        expect(best === null).toBe(fitting.length === 0);
        if (best === null) return;
        expect(fits(best, server())).toBe(true);
        expect(said(best)).toBe(Math.max(...fitting.map(said)));
        if (said(later) <= said(best)) expect(bestFit([...all, later], server())).toBe(best);
      }),
    );
  });
});
