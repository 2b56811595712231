import type { OrganizationContext, TxContext } from '../../platform/index.ts';
import type { TriedRule } from '../enforce/trials.ts';
import type { RuleRow } from '../rules/rows.ts';
import { insertRuleAs, removeRules, switchRule, updateRule } from '../rules/store.ts';

/** Writes what is to be in place of the rules that were there. */
export async function writeRules(
  tx: OrganizationContext & TxContext,
  before: readonly RuleRow[],
  rules: readonly TriedRule[],
  generation: number,
): Promise<void> {
  const ids = new Set(rules.map(({ id }) => id));
  await removeRules(
    tx,
    before.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
  );
  const there = new Map(before.map((rule) => [rule.id, rule]));
  for (const { id, stays, disabled, expires_at, ...said } of rules) {
    if (stays) continue;
    const words = { ...said, expires_at: expires_at === null ? null : new Date(expires_at) };
    const old = there.get(id);
    if (old === undefined) await insertRuleAs(tx, id, tx.organizationId, words, { disabled, generation });
    else {
      await updateRule(tx, id, words, generation);
      if (old.disabled !== disabled) await switchRule(tx, id, disabled, generation);
    }
  }
}
