import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('50,000 random requests get no 5xx and answers as declared, and block nobody', {
  timeout: 3_600_000,
}, async () => {
  const fuzzed = await fuzz(50_000);
  console.log(JSON.stringify(fuzzed));
  expect(fuzzed.longestBlockMs).toBeLessThan(200);
});
