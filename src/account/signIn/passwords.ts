import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { inPasswordQueue } from './passwordQueue.ts';

/** OWASP's first choice for argon2id; the default algorithm of the library. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costText = `$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;

/** What is kept of a password. `rate_limited` when too many wait to be hashed. */
export function hashPassword(password: string): Promise<string> {
  return inPasswordQueue(() => hash(asTyped(password), cost));
}

let decoy: Promise<string> | null = null;

/**
 * Whether a password is the one of this hash. Null stands for nobody's: then it is not, and that takes as long.
 * `rate_limited` when too many wait.
 */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  decoy ??= hashPassword(randomBytes(24).toString('base64url'));
  const against = kept ?? (await decoy);
  const matches = await inPasswordQueue(() => verify(against, asTyped(password)));
  return matches && kept !== null;
}

/** Whether a hash was made with less work than is done today. */
export function isOutdated(kept: string): boolean {
  return !kept.startsWith('$argon2id$') || !kept.includes(costText);
}

/** Keyboards write an umlaut in one character or in two. */
function asTyped(password: string): string {
  return password.normalize('NFC');
}
