import { isDeepStrictEqual } from 'node:util';
import { record } from '../../events/index.ts';
import { type OrganizationContext, requireOwn, type TxContext, transaction } from '../../platform/index.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { ruleChanged, ruleDeleted, ruleDisabled, ruleEnabled } from '../events.ts';
import { holdLimiters } from '../limiters/limiters.ts';
import { holdAddressesOf, type OwnedAddress, requirePrefix } from '../owned.ts';
import { prefixFrom } from '../prefix.ts';
import { type Warning, warningsOf } from '../warnings/warnings.ts';
import { checkLimits } from './limits.ts';
import type { RuleWords } from './match.ts';
import type { SentRule } from './read.ts';
import { namesOf, requireWords } from './require.ts';
import { isAbout, isActive, type RuleRow } from './rows.ts';
import { lockRule, lockRules, removeRules, ruleById, switchRule, updateRule } from './store.ts';

/** In a change absent fields stay as they are, and null takes away what a rule need not have. */
export type SentChange = { [Field in keyof SentRule]?: SentRule[Field] | null | undefined };

/** Changes parts of a rule. `not_found`, `forbidden`, `invalid_request`, `too_many`. */
export function changeRule(ctx: OrganizationContext, id: number, change: SentChange): Promise<Warning[]> {
  return transaction(ctx, 'shield.changeRule', async (tx) => {
    await holdWithLimiters(tx, id, change);
    const rule = await requireOwn(tx, ruleById, { id });
    return replaceRule(tx, id, merged(wordsOf(rule), change, tx.clock.now()));
  });
}

/** Replaces all that a rule says; it keeps its id, its age, its counters and whether it is on. */
export async function replaceRule(
  tx: OrganizationContext & TxContext,
  id: number,
  sent: SentRule,
): Promise<Warning[]> {
  await holdWithLimiters(tx, id, sent);
  const before = await requireOwn(tx, ruleById, { id });
  const { words, owned } = await requireWords(tx, sent, '', await whatIsLeft(tx, before, sent));
  const fields = differing(wordsOf(before), words);
  if (fields.length === 0) return warningsOf(tx, namesOf(owned), [id]);
  const touched = unite(owned, await addressesOf(tx, before));
  const generation = await nextGeneration(tx, await lockPolicies(tx, touched));
  await updateRule(tx, id, words, generation);
  await checkLimits(tx, owned);
  await record(tx, ruleChanged, {
    subject: { type: 'shield_rule', id },
    data: { rule_id: id, destination: words.destination, fields },
  });
  await wantApplied(tx, namesOf(touched));
  return warningsOf(tx, namesOf(owned), [id]);
}

async function holdWithLimiters(
  tx: OrganizationContext & TxContext,
  id: number,
  { rate_limiter_id }: SentChange,
): Promise<void> {
  const { limiter_id } = await requireOwn(tx, ruleById, { id });
  await holdLimiters(tx, [limiter_id, rate_limiter_id]);
  await lockRule(tx, id);
}

/** Switches a rule on or off; one that is so already stays as it is. One whose time is over gets no more of it. */
export function switchRuleTo(
  ctx: OrganizationContext,
  id: number,
  state: 'enabled' | 'disabled',
): Promise<Warning[]> {
  return transaction(ctx, 'shield.switchRule', async (tx) => {
    await lockRule(tx, id);
    const rule = await requireOwn(tx, ruleById, { id });
    const owned = await addressesOf(tx, rule);
    const isOff = state === 'disabled';
    // One whose time is over is off, also before that has been written down.
    if (isActive(rule, tx.clock.now()) === isOff) {
      const generation = await nextGeneration(tx, await lockPolicies(tx, owned));
      await switchRule(tx, id, isOff, generation);
      if (!isOff) await checkLimits(tx, owned);
      await record(tx, isOff ? ruleDisabled : ruleEnabled, {
        subject: { type: 'shield_rule', id },
        data: { rule_id: id, destination: rule.destination },
      });
      await wantApplied(tx, namesOf(owned));
    }
    return warningsOf(tx, namesOf(owned), [id]);
  });
}

/** Takes a rule away. */
export async function deleteRule(ctx: OrganizationContext, id: number): Promise<void> {
  await transaction(ctx, 'shield.deleteRule', async (tx) => {
    await lockRule(tx, id);
    const rule = await requireOwn(tx, ruleById, { id });
    await deleteThese(tx, [rule]);
    await record(tx, ruleDeleted, {
      subject: { type: 'shield_rule', id },
      data: { rule_id: id, destination: rule.destination },
    });
  });
}

/** Takes rules away, and has the edges told. */
export async function deleteThese(
  tx: OrganizationContext & TxContext,
  rules: readonly RuleRow[],
): Promise<void> {
  await lockRules(
    tx,
    rules.map(({ id }) => id),
  );
  let owned: OwnedAddress[] = [];
  for (const rule of rules) owned = unite(owned, await addressesOf(tx, rule));
  if (owned.length > 0) await nextGeneration(tx, await lockPolicies(tx, owned));
  await removeRules(
    tx,
    rules.map(({ id }) => id),
  );
  await wantApplied(tx, namesOf(owned));
}

/** Of a rule that has lost addresses of its network and stays there: those that it still has. */
async function whatIsLeft(
  tx: OrganizationContext & TxContext,
  before: RuleRow,
  { destination }: SentRule,
): Promise<OwnedAddress[] | null> {
  const [here, there] = [before.destination, destination].map((text) => requirePrefix(text, 'destination'));
  if (before.given_back.length === 0 || !isDeepStrictEqual(here, there)) return null;
  const left = await addressesOf(tx, before);
  return left.length > 0 ? left : null;
}

/** The addresses that a rule is about, in order. */
export async function addressesOf(
  tx: OrganizationContext & TxContext,
  rule: RuleRow,
): Promise<OwnedAddress[]> {
  const found = await holdAddressesOf(tx, prefixFrom(rule.destination));
  return found.filter(({ address }) => isAbout(rule, address));
}

export function unite(...lists: readonly OwnedAddress[][]): OwnedAddress[] {
  return [...new Map(lists.flat().map((each) => [each.address, each])).values()];
}

export function wordsOf(rule: RuleRow): RuleWords {
  const { destination, source, action, protocol, note, source_port, destination_port, matches } = rule;
  return {
    ...{ destination, source, action, protocol, note, source_port, destination_port, matches },
    order: rule.rank,
    rate_limiter_id: rule.limiter_id,
    rate: rule.rate,
    expires_at: rule.expires_at,
  };
}

const needed = ['destination', 'action', 'protocol', 'order'] as const;

function merged(words: RuleWords, change: SentChange, now: Date): SentRule {
  // One whose time is over is switched off; whoever changes it need not say that again.
  const ends = words.expires_at !== null && words.expires_at > now ? words.expires_at : null;
  const kept = { ...words, expires_at: ends?.toISOString() ?? null };
  const given = Object.fromEntries(
    Object.entries(change).filter(
      ([name, value]) => value !== undefined && !(value === null && needed.some((each) => each === name)),
    ),
  );
  return { ...kept, ...given } as SentRule;
}

function differing(before: RuleWords, after: RuleWords): string[] {
  return (Object.keys(after) as (keyof RuleWords)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
}
