import { expect, it } from 'vitest';
import { mayBeInsecure } from './observe.ts';

it.each<[string[], string, boolean]>([
  [[], '192.0.2.1', false],
  [['10.78.3.0/24'], '10.78.3.131', true],
  // A server that somebody enrols for real beside the demonstration.
  [['10.78.3.0/24'], '10.78.4.131', false],
  [['10.78.3.0/24'], '2001:db8::1', false],
  [['0.0.0.0/0', '::/0'], '192.0.2.1', true],
  [['0.0.0.0/0', '::/0'], '2001:db8::1', true],
])('BMCs in %j may let people in as none should: %s %s', (insecureBmcs, address, may) => {
  expect(mayBeInsecure({ insecureBmcs }, address)).toBe(may);
});
