import { expect, it } from 'vitest';
import { nextOneIn } from './sampling.ts';

it('takes one packet in so many that a few hundred a second come, and goes back slowly', () => {
  expect(nextOneIn(1, 400, 1_000)).toBe(1);
  expect(nextOneIn(1, 501, 1_000)).toBe(2);
  expect(nextOneIn(1, 1_000_000, 1_000)).toBe(2_048);
  expect(nextOneIn(1, 1_000_000, 10_000)).toBe(256);
  expect(nextOneIn(2_048, 1_000_000, 1_000)).toBe(2_048);
  // No load is known from a moment.
  expect(nextOneIn(1, 400, 1)).toBe(1);
  expect(nextOneIn(1, 10 ** 12, 1_000)).toBe(65_536);
  // Half of it is no reason to write rules anew.
  expect(nextOneIn(64, 16_000, 1_000)).toBe(64);
  expect(nextOneIn(64, 8_000, 1_000)).toBe(16);
  expect([128, 64, 16, 4, 2, 1].map((oneIn) => nextOneIn(oneIn, 0, 1_000))).toEqual([32, 16, 4, 1, 1, 1]);
});
