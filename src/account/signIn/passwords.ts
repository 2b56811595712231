import { randomBytes } from 'node:crypto';
import { hashingCost } from './passwordCost.ts';
import { inPasswordQueue } from './passwordQueue.ts';
import { hashApart } from './passwordThreads.ts';

const { memoryCost, timeCost, parallelism } = hashingCost;
const costText = `$m=${memoryCost},t=${timeCost},p=${parallelism}$`;

/** What is kept of a password. `rate_limited` when too many wait to be hashed. */
export async function hashPassword(password: string): Promise<string> {
  return String(await inPasswordQueue(() => hashApart({ password: asTyped(password), against: null })));
}

let decoy: Promise<string> | null = null;

/**
 * Whether a password is the one of this hash. Null stands for nobody's: then it is not, and that takes as long.
 * `rate_limited` when too many wait.
 */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  decoy ??= hashPassword(randomBytes(24).toString('base64url'));
  const against = kept ?? (await decoy);
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
