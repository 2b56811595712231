import { hashingCost } from './passwordCost.ts';
import { inPasswordQueue } from './passwordQueue.ts';
import { hashApart } from './passwordThreads.ts';

const { memoryCost, timeCost, parallelism } = hashingCost;
const costText = `$m=${memoryCost},t=${timeCost},p=${parallelism}$`;

/** What is kept of a password. `rate_limited` when too many wait to be hashed. */
export async function hashPassword(password: string): Promise<string> {
  return String(await inPasswordQueue(() => hashApart({ password: asTyped(password), against: null })));
}

/**
 * Nobody's: of random bytes that were thrown away. It stands here since one made at the first sign-in could be refused in a
 * storm of them. Whoever changes `hashingCost` makes another, or an unknown address takes another time than a known one.
 */
export const decoy =
  '$argon2id$v=19$m=19456,t=2,p=1$vx9NWNl5YQb3iPFuWt2U3A$qBn7Jx8lRXG/zTMMii4CF6FVHvcLl8Z2ibV1hjEZK8c';

/**
 * Whether a password is the one of this hash. Null stands for nobody's: then it is not, and that takes as long.
 * `rate_limited` when too many wait.
 */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  const against = kept ?? decoy;
  const matches = await inPasswordQueue(() => hashApart({ password: asTyped(password), against }));
  return matches === true && kept !== null;
}

/** Whether a hash was made with less work than is done today. */
export function isOutdated(kept: string): boolean {
  return !kept.startsWith('$argon2id$') || !kept.includes(costText);
}

/** Keyboards write an umlaut in one character or in two. */
function asTyped(password: string): string {
  return password.normalize('NFC');
}
