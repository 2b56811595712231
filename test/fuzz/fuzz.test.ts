import { expect, it } from 'vitest';
import { blocksAtMostMs, fuzz, onceAtMostMs } from './fuzz.ts';

it('2,000 random requests get no 5xx and answers as declared, and block nobody', {
  timeout: 600_000,
}, async () => {
  const fuzzed = await fuzz(2_000);
  const { longestBlockBy, ...told } = fuzzed;
  console.log(JSON.stringify(told));
  expect(fuzzed.longestBlockMs, longestBlockBy).toBeLessThan(blocksAtMostMs);
  expect(fuzzed.longestOnceMs).toBeLessThan(onceAtMostMs);
});
