import { randomInt } from 'node:crypto';

// Without those that are read as digits.
const letters = 'abcdefghjkmnpqrstuvwxyz';
const pairs = 4;

/**
 * A new short code, such as `a1b2c3d4`: letters and digits by turns, so that it spells nothing and is no part of a route.
 * There are 2.8 thousand million; whoever writes it down draws again when it is taken.
 */
export function newTid(): string {
  const pair = () => `${letters[randomInt(letters.length)]}${randomInt(10)}`;
  return Array.from({ length: pairs }, pair).join('');
}
