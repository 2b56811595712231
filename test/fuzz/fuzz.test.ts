import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('2,000 random requests get no 5xx and answers as declared, and block nobody', {
  timeout: 240_000,
}, async () => {
  const fuzzed = await fuzz(2_000);
  console.log(JSON.stringify(fuzzed));
  expect(fuzzed.longestBlockMs).toBeLessThan(200);
});
