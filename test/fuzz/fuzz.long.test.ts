import { expect, it } from 'vitest';
import { blocksAtMostMs, fuzz, onceAtMostMs } from './fuzz.ts';

it('50,000 random requests get no 5xx and answers as declared, and block nobody', {
  timeout: 3_600_000,
}, async () => {
  const fuzzed = await fuzz(50_000);
  const { longestBlockBy, ...told } = fuzzed;
  console.log(JSON.stringify(told));
  expect(fuzzed.longestBlockMs, longestBlockBy).toBeLessThan(blocksAtMostMs);
  expect(fuzzed.longestOnceMs).toBeLessThan(onceAtMostMs);
});
