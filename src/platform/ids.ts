import { randomInt } from 'node:crypto';

const highBits = 2 ** 21;
const lowBits = 2 ** 32;

/**
 * A random positive integer that JSON and JavaScript keep exactly (below 2^53), so that nothing can be
 * counted by it. Two draws, because the random source gives at most 48 bits at once.
 */
export function newId(): number {
  return randomInt(1, highBits) * lowBits + randomInt(lowBits);
}
