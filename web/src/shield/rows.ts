/** What the list of rules shows: each rule, or those together that a preset made and that stand beside each other. */
import type { Schema } from '../../../client/index.ts';
import { type Difference, type Draft, type DraftRule, differenceOf, draftOf } from './draft.ts';

type Rule = Schema<'ShieldRule'>;
type Group = Schema<'ShieldGroup'>;

export interface Row {
  said: DraftRule;
  /** As it is wanted; null for one that is only in the draft. */
  rule: Rule | null;
  difference: Difference | null;
}

export interface Shown {
  key: string;
  rows: readonly Row[];
  /** Where the first of them stands among all rules. */
  at: number;
  /** Whose rules these are, where they are shown as one. */
  group: Group | null;
}

export function rowsOf(draft: Draft | null, rules: readonly Rule[]): Row[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return (draft ?? draftOf(rules)).rules.map((said) => ({
    said,
    rule: byId.get(said.id ?? 0) ?? null,
    difference: draft === null ? null : differenceOf(said, rules),
  }));
}

/** Rows as they are shown: those of a group as one, unless it is unfolded. */
export function shownOf(
  rows: readonly Row[],
  groups: readonly Group[],
  unfolded: ReadonlySet<number>,
): Shown[] {
  const shown: Shown[] = [];
  for (const [at, row] of rows.entries()) {
    const { group_id: id, key } = row.said;
    const group = groups.find((each) => each.id === id) ?? null;
    const before = shown.at(-1);
    const isFolded = group !== null && !unfolded.has(group.id);
    if (isFolded && before?.group?.id === group.id)
      shown[shown.length - 1] = { ...before, rows: [...before.rows, row] };
    else
      shown.push({
        key: isFolded ? `group ${id} ${key}` : key,
        rows: [row],
        at,
        group: isFolded ? group : null,
      });
  }
  return shown;
}

export type RuleState = 'in_force' | 'coming' | 'not_in_force' | 'leaving' | 'off' | 'expired';

/** How a rule stands: what is wanted, and what the edge does about it. */
export function stateOf({ disabled, expires_at, enforced: { active, error } }: Rule): RuleState {
  if (!disabled) return active ? 'in_force' : error === null ? 'coming' : 'not_in_force';
  if (active) return error === null ? 'leaving' : 'not_in_force';
  return expires_at !== null && Date.parse(String(expires_at)) <= Date.now() ? 'expired' : 'off';
}

const order: readonly RuleState[] = ['not_in_force', 'coming', 'leaving', 'in_force', 'off', 'expired'];

/** Of several rules together: what most needs to be looked at. */
export function stateOfAll(rules: readonly Rule[]): RuleState {
  const states = new Set(rules.map(stateOf));
  return order.find((state) => states.has(state)) ?? 'off';
}
