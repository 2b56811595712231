import { expect, it } from 'vitest';
import { headOf } from '../../drivers/edge/index.ts';
import { chance, randomPacket } from '../../drivers/edge/suite/random.testbed.ts';
import { single } from '../prefix.ts';
import { type Family, keyOf } from './flow.ts';
import { pack, unpack } from './pack.ts';
import { thin, type Weight } from './thin.ts';

const destinations = { 4: '203.0.113.10', 6: '2001:db8:7::10' } as const;
const numberOf = (family: Family) => {
  const { first } = single(destinations[family]);
  return family === 4 ? Number(first) : first;
};

it.each([4, 6] as const)(
  'flows come back as they were, with all that rules can see (IPv%s)',
  async (family) => {
    const random = chance(7);
    for (const count of [0, 1, 2, 40, 1_000]) {
      const packets = Array.from({ length: count }, () => randomPacket(random, destinations[family]));
      const odd = [
        {
          ...randomPacket(random, destinations[family]),
          protocol: null,
          ports: null,
          flags: null,
          length: 65_575,
        },
      ];
      const heads = [...packets, ...(count === 40 ? odd : [])].map(headOf);
      const flows = new Map<string, Weight>(
        heads.map((head, nth) => [keyOf(head, family), { packets: 1 + nth * 70_000, samples: 1 + nth }]),
      );
      const found = unpack(await pack(flows, family), family, numberOf(family));
      expect(found).toHaveLength(flows.size);
      for (const { head, ...weight } of found) expect(weight).toEqual(flows.get(keyOf(head, family)));
      const texts = (of: readonly object[]) => new Set(of.map((each) => Object.values(each).join()));
      expect(texts(found.map(({ head }) => head))).toEqual(texts(heads));
    }
  },
);

it('of more flows than are kept as many stand for all, and any part of them adds up', () => {
  const random = chance(11);
  const sizes = Array.from({ length: 20_000 }, (_, nth) =>
    nth % 100 === 0 ? 500 : 1 + Math.floor(random() * 8),
  );
  const weights = new Map(sizes.map((packets, nth) => [nth, { packets, samples: 1 }]));
  const sumOf = (part: (nth: number) => boolean, of: ReadonlyMap<number, Weight>) =>
    [...of].reduce((sum, [nth, { packets }]) => sum + (part(nth) ? packets : 0), 0);
  const parts = [() => true, (nth: number) => nth % 2 === 1, (nth: number) => nth < 5_000];
  const means = parts.map(() => 0);
  const rounds = 40;
  for (let round = 0; round < rounds; round += 1) {
    const kept = thin(weights, 1_000, random);
    expect(kept.size).toBeLessThanOrEqual(1_000);
    expect(kept.size).toBeGreaterThan(997);
    // The large ones are not left to chance.
    for (const [nth, { packets }] of weights) if (packets === 500) expect(kept.get(nth)?.packets).toBe(500);
    for (const [nth, part] of parts.entries())
      means[nth] = (means[nth] ?? 0) + sumOf(part, kept) / sumOf(part, weights) / rounds;
  }
  for (const mean of means) expect(mean).toBeCloseTo(1, 1.7);
  expect(thin(weights, 20_000, random)).toEqual(weights);
});
