import { expect, it } from 'vitest';
import { createRestraint } from './restraint.ts';

const minute = 60_000;
const start = 1_000 * 24 * 60 * minute;
const peers = (...refusals: number[]) =>
  refusals.map((each, nth) => ({ address: `192.0.2.${nth}`, refusals: each }));

it('rules are half as many whenever a router breaks off, until it stays', () => {
  const restrain = createRestraint();
  const seen = [3, 3, 4, 5, 5, 6, 6].map((refusals, nth) =>
    restrain(peers(0, refusals), 100, start + nth * 2_000),
  );
  expect(seen).toEqual([null, null, 50, 25, 25, 12, 12]);
});

it('and all of them again after five minutes, ten, twenty and so on, six hours at most', () => {
  const restrain = createRestraint();
  let now = start;
  let refusals = 0;
  const waits = Array.from({ length: 9 }, () => {
    restrain(peers(refusals), 100, now);
    refusals += 1;
    const began = now;
    for (
      let most = restrain(peers(refusals), 100, now);
      most !== null;
      most = restrain(peers(refusals), 50, now)
    )
      now += minute;
    return (now - began) / minute;
  });
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 360, 360]);
  now += 25 * 60 * minute;
  expect(restrain(peers(refusals + 1), 100, now)).toBe(50);
  expect(restrain(peers(refusals + 1), 50, now + 5 * minute)).toBe(null);
});

it('where none are told, and where gobgpd began to count anew, nothing is held back', () => {
  const restrain = createRestraint();
  expect([4, 5].map((refusals) => restrain(peers(refusals), 0, start))).toEqual([null, null]);
  expect([5, 0, 0].map((refusals) => restrain(peers(refusals), 10, start))).toEqual([null, null, null]);
  expect(restrain(peers(1), 10, start)).toBe(5);
  expect(restrain(peers(1), 10, start - minute)).toBe(null);
});
