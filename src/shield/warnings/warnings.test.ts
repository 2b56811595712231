import { expect, it } from 'vitest';
import type { Rule } from '../../drivers/edge/index.ts';
import { surprises } from './warnings.ts';

const ports = Array.from({ length: 65 }, (_, nth): [number, number] => [nth * 1_000, nth * 1_000 + 900]);

/** Each says 65 ranges of ports twice, and only the source tells one from the other. */
function rule(nth: number): Rule {
  return {
    ...{ id: nth + 1, action: 'permit', limit: null },
    match: {
      protocols: [[17, 17]],
      ...{ sources: [`10.0.${nth}.0/24`], sourcePorts: ports, destinationPorts: ports },
    },
  };
}

it('to look for surprises among as many rules as there may be, each as long as it may be, takes a moment', () => {
  const rules = Array.from({ length: 200 }, (_, nth) => rule(nth));
  const policy = { destination: '203.0.113.10/32', generation: 1, unmatched: 'deny', rules } as const;
  const before = process.cpuUsage();
  const found = surprises(policy, '198.51.100.9', null);
  const { user } = process.cpuUsage(before);
  expect(found.map(({ code }) => code)).toEqual(['shuts_out_caller']);
  // Of one process, in which others wait meanwhile; many seconds where each pair was worked out by itself.
  expect(user / 1e6).toBeLessThan(2);
});
