/** Rules of an address that are written down and not in force: what somebody makes of those that are wanted. */
import type { BodyOf, OperationAt, Schema } from '../../../client/index.ts';
import { isSame } from '../data/drawn.ts';

type Rule = Schema<'ShieldRule'>;

/** What a rule says, but for the addresses that it is for and where it stands. */
export interface Words {
  source: string | null;
  action: Rule['action'];
  protocol: Rule['protocol'];
  note: string | null;
  source_port: Rule['source_port'];
  destination_port: Rule['destination_port'];
  matches: Rule['matches'];
  rate_limiter_id: number;
  /** Of its own. */
  rate: Rule['rate'];
  expires_at: string | null;
  disabled: boolean;
}

export interface DraftRule extends Words {
  /** Its own as long as the draft lasts. */
  key: string;
  /** Null: it is new. */
  id: number | null;
  destination: string;
  order: number;
  group_id: number;
}

export interface Draft {
  /** What was there when it was begun: each rule, and when it was changed last. */
  base: readonly (readonly [id: number, updatedAt: string])[];
  rules: readonly DraftRule[];
  /** Which trial it is being tried out by, or was. */
  tried: number | null;
}

export const largestOrder = 10_000;
/** Between rules that are put in order anew there is room for others. */
const usualStep = 10;

function basedOn(rules: readonly Rule[]): Draft['base'] {
  return rules.map(({ id, updated_at }) => [id, String(updated_at)] as const);
}

export function wordsOf(rule: Rule | DraftRule): Words {
  const { source, action, protocol, note, source_port, destination_port, matches } = rule;
  const { rate_limiter_id, rate, disabled } = rule;
  const isOver = rule.expires_at !== null && Date.parse(String(rule.expires_at)) <= Date.now();
  return {
    ...{ source, action, protocol, note, source_port, destination_port, matches },
    ...{ rate_limiter_id, rate, disabled },
    // One whose time is over is off, and no rule is made for a time that is over.
    expires_at: rule.expires_at === null || isOver ? null : String(rule.expires_at),
  };
}

/** A draft that says what is wanted already. */
export function draftOf(rules: readonly Rule[]): Draft {
  return {
    base: basedOn(rules),
    rules: rules.map((rule) => ({
      ...wordsOf(rule),
      ...{ key: String(rule.id), id: rule.id, destination: rule.destination },
      ...{ order: rule.order, group_id: rule.group_id },
    })),
    tried: null,
  };
}

/** Whether somebody has changed these rules since the draft was begun. */
export function isBehind({ base }: Draft, rules: readonly Rule[]): boolean {
  return !isSame(base, basedOn(rules));
}

/** The same draft on rules as they are now: what is gone meanwhile would be made anew. */
export function rebased(draft: Draft, rules: readonly Rule[]): Draft {
  const ids = new Set(rules.map(({ id }) => id));
  return {
    ...draft,
    base: basedOn(rules),
    rules: draft.rules.map((rule) =>
      rule.id === null || ids.has(rule.id) ? rule : { ...rule, id: null, group_id: 0 },
    ),
  };
}

/** Whether a rule is for other addresses, too: it stays as it is, whatever is said of this one. */
export function isWide({ destination }: { destination: string }, address: string): boolean {
  return destination !== address;
}

/** So many rules are taken from their place and put down at another one. */
export function moved(draft: Draft, from: number, count: number, to: number, address: string): Draft | null {
  const block = draft.rules.slice(from, from + count);
  const others = draft.rules.filter((_, nth) => nth < from || nth >= from + count);
  return ordered({ ...draft, rules: [...others.slice(0, to), ...block, ...others.slice(to)] }, address);
}

export function withRule(draft: Draft, words: Words, address: string): Draft | null {
  const added: DraftRule = {
    ...words,
    ...{ key: crypto.randomUUID(), id: null, destination: address, order: 0, group_id: 0 },
  };
  return ordered({ ...draft, rules: [...draft.rules, added] }, address);
}

export function withWords(draft: Draft, key: string, words: Partial<Words>): Draft {
  return { ...draft, rules: draft.rules.map((rule) => (rule.key === key ? { ...rule, ...words } : rule)) };
}

export function withoutRule(draft: Draft, key: string): Draft {
  return { ...draft, rules: draft.rules.filter((rule) => rule.key !== key) };
}

/** A rule with the place that decides about it: its order, and among rules of the same order its age. */
interface Placed {
  rule: DraftRule;
  age: number;
}

const isBefore = (one: Placed, other: Placed) =>
  one.rule.order < other.rule.order || (one.rule.order === other.rule.order && one.age < other.age);

/**
 * Gives rules an order in which they stand as they are listed. As many as can be keep theirs, and rules for wider networks all do.
 * Null where there is no room between these.
 */
function ordered(draft: Draft, address: string): Draft | null {
  const age = new Map(draft.base.map(([id], nth) => [id, nth]));
  const all = draft.rules.map((rule, nth) => ({
    rule,
    // What is new is younger than all, in the order in which it is listed.
    age: rule.id === null ? draft.base.length + nth : (age.get(rule.id) ?? 0),
  }));
  const rules: DraftRule[] = [];
  let part: Placed[] = [];
  let before: Placed | null = null;
  for (const placed of [...all, null]) {
    if (placed !== null && !isWide(placed.rule, address)) {
      part.push(placed);
      continue;
    }
    const between = orderedBetween(before, part, placed);
    if (between === null) return null;
    rules.push(...between, ...(placed === null ? [] : [placed.rule]));
    if (before !== null && placed !== null && !isBefore(before, placed)) return null;
    [before, part] = [placed, []];
  }
  return { ...draft, rules };
}

/** The same of those between two that stay where they are. */
function orderedBetween(
  before: Placed | null,
  part: readonly Placed[],
  after: Placed | null,
): DraftRule[] | null {
  const low = before === null ? -1 : before.rule.order;
  const high = after === null ? largestOrder + 1 : after.rule.order;
  const fits = (each: Placed) =>
    (before === null || isBefore(before, each)) && (after === null || isBefore(each, after));
  const kept = longest(part.filter(fits));
  return spread(part, kept, low, high) ?? spread(part, new Set(), low, high);
}

/** Of those that are listed, as many as possible that stand in their order already. */
function longest(part: readonly Placed[]): ReadonlySet<Placed> {
  const best = part.map(() => 1);
  const previous = part.map(() => -1);
  for (const [nth, each] of part.entries()) {
    for (const [mth, other] of part.slice(0, nth).entries()) {
      const length = (best[mth] ?? 0) + 1;
      if (isBefore(other, each) && length > (best[nth] ?? 0)) {
        best[nth] = length;
        previous[nth] = mth;
      }
    }
  }
  const kept = new Set<Placed>();
  let at = best.indexOf(Math.max(...best));
  while (at >= 0) {
    const each = part[at];
    if (each !== undefined) kept.add(each);
    at = previous[at] ?? -1;
  }
  return kept;
}

/** Puts the others between those that are kept, evenly; null where there is no room. */
function spread(
  part: readonly Placed[],
  kept: ReadonlySet<Placed>,
  low: number,
  high: number,
): DraftRule[] | null {
  const rules: DraftRule[] = [];
  let from = low;
  let waiting: Placed[] = [];
  for (const each of [...part, null]) {
    if (each !== null && !kept.has(each)) {
      waiting.push(each);
      continue;
    }
    const to = each === null ? high : each.rule.order;
    // Two of the same order may stand beside each other, with nothing between them.
    if (waiting.length > 0 && to - from - 1 < waiting.length) return null;
    const even = (to - from) / (waiting.length + 1);
    // At the end they need not be spread over all that is left.
    const isLast = each === null && high > largestOrder;
    const [first, step] = isLast ? [Math.max(0, from), Math.min(usualStep, Math.floor(even))] : [from, even];
    for (const [nth, { rule }] of waiting.entries())
      rules.push({ ...rule, order: first + Math.floor(step * (nth + 1)) });
    if (each !== null) rules.push(each.rule);
    [from, waiting] = [to, []];
  }
  return rules;
}

/** What a draft does to the rules that are wanted. */
export type Difference = 'new' | 'changed' | 'moved';

export function differenceOf(rule: DraftRule, rules: readonly Rule[]): Difference | null {
  const before = rules.find(({ id }) => id === rule.id);
  if (before === undefined) return 'new';
  if (!isSame(wordsOf(before), wordsOf(rule))) return 'changed';
  return before.order === rule.order ? null : 'moved';
}

/** Rules that are wanted, and would be gone. */
export function removedBy({ rules }: Draft, wanted: readonly Rule[]): Rule[] {
  return wanted.filter(({ id }) => rules.every((rule) => rule.id !== id));
}

export function isChanging(draft: Draft, wanted: readonly Rule[]): boolean {
  return (
    removedBy(draft, wanted).length > 0 || draft.rules.some((rule) => differenceOf(rule, wanted) !== null)
  );
}

/** Those of a draft that are sent, in their order. */
export function sentOf({ rules }: Draft, address: string): DraftRule[] {
  return rules.filter((rule) => !isWide(rule, address));
}

type ApplyBody = BodyOf<OperationAt<'post', '/shield/v2/rules/apply'>>;

export function bodyOf(draft: Draft, address: string): ApplyBody {
  return {
    destinations: [address],
    keep_wider: true,
    rules: sentOf(draft, address).map(({ key: _, group_id: __, id, ...rule }) => ({
      ...rule,
      ...(id !== null && { id }),
    })),
  };
}
