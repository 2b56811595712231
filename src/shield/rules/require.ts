import type { OrganizationContext, TxContext } from '../../platform/index.ts';
import { requireOwnLimiter } from '../limiters/limiters.ts';
import { holdOwnAddresses, type OwnedAddress, requirePrefix } from '../owned.ts';
import type { RuleWords } from './match.ts';
import { readRule, type SentRule } from './read.ts';

/**
 * Reads a rule whose addresses and limiter are the caller's, and stay so until the transaction ends. `held` are its addresses where
 * they are known and held already.
 */
export async function requireWords(
  tx: OrganizationContext & TxContext,
  sent: SentRule,
  under = '',
  held: OwnedAddress[] | null = null,
): Promise<{ words: RuleWords; owned: OwnedAddress[] }> {
  const field = under === '' ? '' : `${under}.`;
  const words = readRule(sent, tx.clock.now(), under);
  const prefix = requirePrefix(words.destination, `${field}destination`);
  const owned = held ?? (await holdOwnAddresses(tx, prefix, `${field}destination`));
  if (words.rate_limiter_id !== null) await requireOwnLimiter(tx, words.rate_limiter_id);
  return { words, owned };
}

export function namesOf(owned: readonly OwnedAddress[]): string[] {
  return owned.map(({ address }) => address);
}
