import { randomInt } from 'node:crypto';

const largest = 2 ** 31 - 1;

/** A random id as Shield's public clients keep it: within 31 bits. Where one may be taken already, take another. */
export function newSmallId(): number {
  return randomInt(1, largest + 1);
}

/** A count as those clients read it; the exact one stands beside it. */
export function within31Bits(count: number): number {
  return Math.min(count, largest);
}
