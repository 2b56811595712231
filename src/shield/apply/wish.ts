import type { Policy } from '../../drivers/edge/index.ts';
import {
  type ErrorDetail,
  fail,
  type OrganizationContext,
  refuse,
  type TxContext,
} from '../../platform/index.ts';
import type { AddressRow } from '../enforce/addressRows.ts';
import { limitersFor, readPolicies } from '../enforce/apply.ts';
import { policyOf } from '../enforce/toEdge.ts';
import { saidOf, type TriedRule } from '../enforce/trials.ts';
import { newSmallId } from '../ids.ts';
import { holdOwnAddresses, type OwnedAddress, requirePrefix } from '../owned.ts';
import { addressesOf, unite, wordsOf } from '../rules/change.ts';
import type { RuleWords } from '../rules/match.ts';
import type { SentRule } from '../rules/read.ts';
import { namesOf, requireWords } from '../rules/require.ts';
import { isAbout, isActive, listRulesFor, type RuleRow } from '../rules/rows.ts';
import { shutsOut, surprises, type Warning } from '../warnings/warnings.ts';
import { checkTriedLimits } from './limits.ts';

export interface NewApply {
  rules: readonly (SentRule & { id?: number | null | undefined; disabled?: boolean | undefined })[];
  destinations?: readonly string[] | null | undefined;
  keep_wider?: boolean | undefined;
  confirm_within_s?: number | null | undefined;
  force?: boolean | undefined;
}

/** What `apply` is about once it is read. */
export interface Wish {
  owned: OwnedAddress[];
  destinations: string[];
  rules: Wanted[];
  /** All rules of these addresses as they are. */
  there: RuleRow[];
  /** Of them those for wider networks, which stay. */
  wider: RuleRow[];
}

/** A rule of a replacement. */
interface Wanted {
  id: number;
  /** Of one that stays: as old as it is, which decides among rules of the same order. */
  age: number | null;
  disabled: boolean;
  words: RuleWords;
}

/** A wish that may be done. */
export interface Checked {
  wish: Wish;
  rows: AddressRow[];
  /** Its rules, as they are tried out. */
  tried: TriedRule[];
  /** What the edge of these addresses would be told. */
  policies: Policy[];
  warnings: Warning[];
}

/**
 * Reads and checks a whole set of rules for some addresses of the caller's, which stay theirs until the transaction ends; changes
 * nothing. `rowsOf` finds how these addresses stand. All refusals of `applyRules`.
 */
export async function requireWish(
  tx: OrganizationContext & TxContext,
  body: NewApply,
  rowsOf: (owned: readonly OwnedAddress[]) => Promise<AddressRow[]>,
): Promise<Checked> {
  const wish = await readWish(tx, body);
  const rows = await rowsOf(wish.owned);
  const tried = triedOf(wish);
  const policies = await policiesOf(tx, rows, tried);
  const isForGood = (body.confirm_within_s ?? null) === null;
  if (isForGood && !body.force) await refuseLockOut(tx, rows, policies);
  await checkTriedLimits(tx, wish.owned, tried);
  const warnings = policies.flatMap((policy) => surprises(policy, tx.actor.ip, null));
  return { wish, rows, tried, policies, warnings };
}

/** All rules of these addresses as they are to be, in the order in which they are looked at. */
function triedOf({ rules, wider }: Wish): TriedRule[] {
  const now = rules.map(({ id, age, disabled, words }) => ({ id, age, disabled, words, stays: false }));
  const others = wider.map((row) => {
    return { id: row.id, age: row.age, disabled: row.disabled, words: wordsOf(row), stays: true };
  });
  // Of the same order the older one comes first, and those that are new in the order of the request.
  return [...others, ...now]
    .toSorted((one, other) => one.words.order - other.words.order || ageOf(one) - ageOf(other) || 0)
    .map(({ id, disabled, stays, words }) => {
      const { expires_at, ...said } = words;
      return { ...said, id, disabled, stays, expires_at: expires_at?.toISOString() ?? null };
    });
}

function ageOf({ age }: { age: number | null }): number {
  return age ?? Number.MAX_SAFE_INTEGER;
}

async function readWish(tx: OrganizationContext & TxContext, body: NewApply): Promise<Wish> {
  let owned: OwnedAddress[] = [];
  const destinations = new Set<string>();
  for (const [nth, text] of (body.destinations ?? []).entries()) {
    const prefix = requirePrefix(text, `destinations[${nth}]`);
    owned = unite(owned, await holdOwnAddresses(tx, prefix, `destinations[${nth}]`));
    destinations.add(prefix.text);
  }
  const read: { id: number | null; disabled: boolean | undefined; words: RuleWords }[] = [];
  for (const [nth, { id = null, disabled, ...sent }] of body.rules.entries()) {
    const found = await requireWords(tx, sent, `rules[${nth}]`);
    owned = unite(owned, found.owned);
    destinations.add(found.words.destination);
    read.push({ id, disabled, words: found.words });
  }
  if (owned.length === 0)
    throw refuse('destinations', 'is needed where there are no rules: whose are to go?');
  const sorted = owned.toSorted((one, other) => (one.address < other.address ? -1 : 1));
  const before = await listRulesFor(tx, tx.organizationId, namesOf(sorted));
  const there = before.filter((rule) => sorted.some(({ address }) => isAbout(rule, address)));
  const wider = await widerThan(tx, there, sorted);
  const [first] = wider;
  if (first !== undefined && !body.keep_wider)
    throw refuse(
      'destinations',
      `must name all addresses of ${first.destination}, which rule ${first.id} is for`,
    );
  const kept = read.flatMap(({ id }) => id ?? []);
  for (const [nth, { id }] of read.entries()) {
    if (id !== null && !there.some((rule) => rule.id === id))
      throw refuse(`rules[${nth}].id`, 'is no rule of these addresses');
    if (id !== null && kept.indexOf(id) !== kept.lastIndexOf(id))
      throw refuse(`rules[${nth}].id`, 'is named twice');
    if (id !== null && wider.some((rule) => rule.id === id))
      throw refuse(`rules[${nth}].id`, 'is for other addresses as well, and stays as it is');
  }
  const byId = new Map(there.map((rule) => [rule.id, rule]));
  const now = tx.clock.now();
  return {
    owned: sorted,
    destinations: [...destinations],
    rules: read.map(({ id, disabled, words }) => {
      const before = byId.get(id ?? 0);
      const isOff = disabled ?? (before !== undefined && !isActive(before, now));
      return { id: id ?? newSmallId(), age: before?.age ?? null, disabled: isOff, words };
    }),
    there,
    wider,
  };
}

/** Rules that are for other addresses as well: they cannot be replaced for these alone. */
async function widerThan(
  tx: OrganizationContext & TxContext,
  rules: readonly RuleRow[],
  owned: readonly OwnedAddress[],
): Promise<RuleRow[]> {
  const wider: RuleRow[] = [];
  for (const rule of rules) {
    const all = await addressesOf(tx, rule);
    if (!all.every(({ address }) => owned.some((each) => each.address === address))) wider.push(rule);
  }
  return wider;
}

async function policiesOf(
  tx: TxContext,
  rows: readonly AddressRow[],
  tried: readonly TriedRule[],
): Promise<Policy[]> {
  const said = saidOf(tried);
  const limiters = await limitersFor(tx, said);
  return rows.map(({ address, unmatched }) => {
    const there = said.filter((rule) => isAbout({ ...rule, given_back: [] }, address));
    return policyOf(address, 0, unmatched, there, limiters);
  });
}

/** `would_lock_out` when the caller cannot reach SSH by these policies, and could by those that are wanted now. */
async function refuseLockOut(
  tx: OrganizationContext & TxContext,
  rows: readonly AddressRow[],
  policies: readonly Policy[],
): Promise<void> {
  const { ip } = tx.actor;
  const before = new Map(
    (await readPolicies(tx, rows)).policies.map((policy) => [policy.destination, policy]),
  );
  const details: ErrorDetail[] = policies
    .filter((policy) => {
      const now = before.get(policy.destination);
      return shutsOut(policy, ip) && !(now !== undefined && shutsOut(now, ip));
    })
    .map(({ destination }) => ({ field: 'rules', message: `shut you out of ${destination}` }));
  if (details.length > 0) throw fail('would_lock_out', { details });
}
