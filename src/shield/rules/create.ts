import { record } from '../../events/index.ts';
import { type OrganizationContext, requireOwn, transaction } from '../../platform/index.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { ruleCreated } from '../events.ts';
import { type Warning, warningsOf } from '../warnings/warnings.ts';
import { replaceRule } from './change.ts';
import { checkLimits } from './limits.ts';
import type { SentRule } from './read.ts';
import { namesOf, requireWords } from './require.ts';
import { insertRule, ruleById } from './store.ts';

/** What was made, and what about it may surprise. */
export interface Made<Data> {
  data: Data;
  warnings: Warning[];
}

/**
 * Makes a rule, or replaces the one that is named. `invalid_request`; `forbidden` for addresses and ids that are not the
 * caller's, `not_found` for ids that nothing has, `too_many`.
 */
export async function createRule(
  ctx: OrganizationContext,
  { id, ...sent }: SentRule & { id?: number | null | undefined },
): Promise<Made<{ rule_id: number }>> {
  return transaction(ctx, 'shield.createRule', async (tx) => {
    if (id != null) {
      await requireOwn(tx, ruleById, { id });
      return { data: { rule_id: id }, warnings: await replaceRule(tx, id, sent) };
    }
    const { words, owned } = await requireWords(tx, sent);
    const generation = await nextGeneration(tx, await lockPolicies(tx, owned));
    const ruleId = await insertRule(tx, tx.organizationId, words, { generation });
    await checkLimits(tx, owned);
    await record(tx, ruleCreated, {
      subject: { type: 'shield_rule', id: ruleId },
      data: { rule_id: ruleId, destination: words.destination },
    });
    await wantApplied(tx, namesOf(owned));
    return { data: { rule_id: ruleId }, warnings: await warningsOf(tx, namesOf(owned), [ruleId]) };
  });
}
