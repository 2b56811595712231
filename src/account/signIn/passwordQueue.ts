import { availableParallelism } from 'node:os';
import { fail } from '../../platform/index.ts';

/**
 * Hashing takes a core for some ten milliseconds. As many are at work as there are cores, so many may wait for them, and
 * whoever comes then is told to: a storm of sign-ins takes nothing from the rest of the API.
 */
const atOnce = availableParallelism();
const waitingAtMost = 24 * atOnce;

let working = 0;
const waiting: (() => void)[] = [];

/** Does the work when it is its turn. `rate_limited` when too many wait already. */
export async function inPasswordQueue<T>(work: () => Promise<T>): Promise<T> {
  if (working >= atOnce) await takePlace();
  else working += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next(); // the place is handed on
  }
}

function takePlace(): Promise<void> {
  if (waiting.length >= waitingAtMost) {
    const message = 'Too many people are signing in at this moment; try again in a second';
    throw fail('rate_limited', { message, retryAfterS: 1 });
  }
  return new Promise((resolve) => waiting.push(resolve));
}
