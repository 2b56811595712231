import type { Policy } from '../../drivers/edge/index.ts';
import { record } from '../../events/index.ts';
import {
  type ErrorDetail,
  fail,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import type { AddressRow } from '../enforce/addressRows.ts';
import { limitersFor, readPolicies } from '../enforce/apply.ts';
import { policyOf } from '../enforce/toEdge.ts';
import {
  asSaid,
  endTrials,
  type TrialRow,
  type TriedRule,
  trialColumns,
  wantConfirmed,
  wantTried,
} from '../enforce/trials.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { policyApplied, trialCancelled, trialConfirmed, trialStarted } from '../events.ts';
import { newSmallId } from '../ids.ts';
import { holdOwnAddresses, type OwnedAddress, requirePrefix } from '../owned.ts';
import { adviceOn } from '../rules/advice.ts';
import { addressesOf, unite } from '../rules/change.ts';
import { checkLimits } from '../rules/limits.ts';
import type { RuleWords } from '../rules/match.ts';
import type { SentRule } from '../rules/read.ts';
import { namesOf, requireWords } from '../rules/require.ts';
import { isAbout, listRulesFor, type RuleRow } from '../rules/rows.ts';
import { insertRuleAs, removeRules, updateRule } from '../rules/store.ts';
import { shutsOut, surprises } from '../warnings/warnings.ts';
import { checkTriedLimits } from './limits.ts';

export interface NewApply {
  rules: readonly (SentRule & { id?: number | null | undefined })[];
  destinations?: readonly string[] | null | undefined;
  confirm_within_s?: number | null | undefined;
  force?: boolean | undefined;
}

const insert = statement<
  { id: number },
  {
    id: number;
    organizationId: number;
    addresses: string[];
    destinations: string[];
    rules: string;
    generation: number;
    state: string;
    until: Date | null;
    now: Date;
  }
>(
  'shield.insertApply',
  `insert into shield_applies (id, organization_id, addresses, destinations, rules, generation, state, confirm_until,
     created_at, ended_at)
   values (:id, :organizationId, :addresses::inet[], :destinations::cidr[], :rules::jsonb, :generation, :state, :until,
     :now, case when :state = 'trying' then null else :now::timestamptz end)
   on conflict (id) do nothing returning id`,
);
const applyById = statement<TrialRow, { id: number }>(
  'shield.applyOfId',
  `select ${trialColumns} from shield_applies where id = :id`,
);
const lockById = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockApply',
  'select id from shield_applies where id = :id and organization_id = :organizationId for update',
);
const markTried = statement<
  { generation: number },
  { addresses: string[]; id: number; until: Date; millis: number }
>(
  'shield.markTried',
  `update shield_addresses t set trial_id = :id, trial_until = :until, trial_generation = (
     select greatest(max(greatest(o.generation, coalesce(o.trial_generation, 0))) + 1, :millis::bigint)
     from shield_addresses o where o.address = any(:addresses::inet[]))
   where t.address = any(:addresses::inet[]) returning t.trial_generation as generation`,
);
const setGeneration = statement<never, { id: number; generation: number }>(
  'shield.setApplyGeneration',
  'update shield_applies set generation = :generation where id = :id',
);
const keepTried = statement<{ address: string }, { id: number; now: Date }>(
  'shield.keepTried',
  `update shield_addresses t set generation = t.trial_generation, updated_at = :now, trial_id = null,
     trial_generation = null, trial_until = null
   where t.trial_id = :id returning host(t.address) as address`,
);
const setConfirmed = statement<never, { id: number; now: Date }>(
  'shield.setConfirmed',
  `update shield_applies set state = 'confirmed', ended_at = :now where id = :id`,
);

/** What `apply` is about once it is read. */
interface Wish {
  owned: OwnedAddress[];
  destinations: string[];
  rules: { id: number; isKept: boolean; words: RuleWords }[];
  /** Rules of these addresses that are to be gone. */
  gone: number[];
}

/**
 * Replaces all rules of some addresses as one: for good, or for a while unless somebody confirms it. `would_lock_out` when the
 * caller could not reach SSH any more, unless it is tried out or forced.
 */
export function applyRules(ctx: OrganizationContext, body: NewApply) {
  return transaction(ctx, 'shield.applyRules', async (tx) => {
    const wish = await readWish(tx, body);
    const rows = await lockPolicies(tx, wish.owned);
    const tried = wish.rules.map(({ id, words }): TriedRule => {
      return { ...words, id, expires_at: words.expires_at?.toISOString() ?? null };
    });
    const policies = await policiesOf(tx, rows, tried);
    const seconds = body.confirm_within_s ?? null;
    if (seconds === null && !body.force) await refuseLockOut(tx, rows, policies);
    await checkTriedLimits(tx, wish.owned, wish.rules);
    const warnings = policies.flatMap((policy) => surprises(policy, tx.actor.ip, null));
    const data =
      seconds === null
        ? await applyForGood(tx, wish, rows, tried)
        : await tryFor(tx, wish, rows, tried, seconds);
    return { data, warnings };
  });
}

async function readWish(tx: OrganizationContext & TxContext, body: NewApply): Promise<Wish> {
  let owned: OwnedAddress[] = [];
  const destinations = new Set<string>();
  for (const [nth, text] of (body.destinations ?? []).entries()) {
    const prefix = requirePrefix(text, `destinations[${nth}]`);
    owned = unite(owned, await holdOwnAddresses(tx, prefix, `destinations[${nth}]`));
    destinations.add(prefix.text);
  }
  const read: { id: number | null; words: RuleWords }[] = [];
  for (const [nth, { id = null, ...sent }] of body.rules.entries()) {
    const found = await requireWords(tx, sent, `rules[${nth}]`);
    owned = unite(owned, found.owned);
    destinations.add(found.words.destination);
    read.push({ id, words: found.words });
  }
  if (owned.length === 0)
    throw refuse('destinations', 'is needed where there are no rules: whose are to go?');
  const sorted = owned.toSorted((one, other) => (one.address < other.address ? -1 : 1));
  const before = await listRulesFor(tx, tx.organizationId, namesOf(sorted));
  const there = before.filter((rule) => sorted.some(({ address }) => isAbout(rule, address)));
  await refuseWider(tx, there, sorted);
  const kept = read.flatMap(({ id }) => id ?? []);
  for (const [nth, { id }] of read.entries()) {
    if (id !== null && !there.some((rule) => rule.id === id))
      throw refuse(`rules[${nth}].id`, 'is no rule of these addresses');
    if (id !== null && kept.indexOf(id) !== kept.lastIndexOf(id))
      throw refuse(`rules[${nth}].id`, 'is named twice');
  }
  return {
    owned: sorted,
    destinations: [...destinations],
    rules: read.map(({ id, words }) => ({ id: id ?? newSmallId(), isKept: id !== null, words })),
    gone: there.map(({ id }) => id).filter((id) => !kept.includes(id)),
  };
}

/** A rule that is for other addresses as well cannot be replaced for these alone. */
async function refuseWider(
  tx: OrganizationContext & TxContext,
  rules: readonly RuleRow[],
  owned: readonly OwnedAddress[],
): Promise<void> {
  for (const rule of rules) {
    const all = await addressesOf(tx, rule);
    const isWithin = all.every(({ address }) => owned.some((each) => each.address === address));
    if (!isWithin)
      throw refuse(
        'destinations',
        `must name all addresses of ${rule.destination}, which rule ${rule.id} is for`,
      );
  }
}

async function policiesOf(
  tx: TxContext,
  rows: readonly AddressRow[],
  tried: readonly TriedRule[],
): Promise<Policy[]> {
  const inOrder = tried
    .map((rule, nth) => ({ rule, nth }))
    .toSorted((one, other) => one.rule.order - other.rule.order || one.nth - other.nth)
    .map(({ rule }) => asSaid(rule));
  const limiters = await limitersFor(tx, inOrder);
  return rows.map(({ address, unmatched }) => {
    const there = inOrder.filter((rule) => isAbout({ ...rule, given_back: [] }, address));
    return policyOf(address, 0, unmatched, there, limiters);
  });
}

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

async function applyForGood(
  tx: OrganizationContext & TxContext,
  wish: Wish,
  rows: readonly AddressRow[],
  tried: readonly TriedRule[],
) {
  const generation = await nextGeneration(tx, rows);
  await writeRules(tx, wish.gone, wish.rules, generation);
  await checkLimits(tx, wish.owned);
  const id = await insertApply(tx, wish, tried, { generation, state: 'applied', until: null });
  await record(tx, policyApplied, {
    subject: { type: 'shield_apply', id },
    data: { apply_id: id, destinations: wish.destinations, rules: tried.length },
  });
  await wantApplied(tx, namesOf(wish.owned));
  return { apply_id: id, confirm_until: null, rule_ids: wish.rules.map((rule) => rule.id) };
}

async function tryFor(
  tx: OrganizationContext & TxContext,
  wish: Wish,
  rows: readonly AddressRow[],
  tried: readonly TriedRule[],
  seconds: number,
) {
  await endTrials(
    tx,
    rows.flatMap(({ trial_id }) => trial_id ?? []),
    'superseded',
  );
  const now = tx.clock.now();
  const until = new Date(now.getTime() + seconds * 1_000);
  const id = await insertApply(tx, wish, tried, { generation: 0, state: 'trying', until });
  const addresses = namesOf(wish.owned);
  // Beyond what the trials before had, which the rows that were read still say.
  const millis = Math.max(now.getTime(), ...rows.map((row) => (row.trial_generation ?? 0) + 1));
  const [row] = await tx.db.many(markTried, { addresses, id, until, millis });
  if (row === undefined) throw new Error('addresses that were locked are gone');
  await tx.db.run(setGeneration, { id, generation: row.generation });
  await record(tx, trialStarted, {
    subject: { type: 'shield_apply', id },
    data: {
      ...{ apply_id: id, destinations: wish.destinations, rules: tried.length },
      confirm_until: until.toISOString(),
    },
  });
  await wantTried(tx, id, row.generation, addresses);
  return { apply_id: id, confirm_until: until, rule_ids: wish.rules.map((rule) => rule.id) };
}

async function insertApply(
  tx: OrganizationContext & TxContext,
  { owned, destinations }: Wish,
  tried: readonly TriedRule[],
  more: { generation: number; state: string; until: Date | null },
): Promise<number> {
  const { organizationId } = tx;
  const rules = JSON.stringify(tried);
  const addresses = namesOf(owned);
  const now = tx.clock.now();
  for (;;) {
    const id = newSmallId();
    const row = await tx.db.maybe(insert, {
      id,
      organizationId,
      addresses,
      destinations,
      rules,
      now,
      ...more,
    });
    if (row !== null) return row.id;
  }
}

async function writeRules(
  tx: OrganizationContext & TxContext,
  gone: readonly number[],
  rules: Wish['rules'],
  generation: number,
): Promise<void> {
  await removeRules(tx, gone);
  for (const { id, isKept, words } of rules) {
    if (isKept) await updateRule(tx, id, words, generation);
    else await insertRuleAs(tx, id, tx.organizationId, words, generation);
  }
}

export async function readApply(ctx: OrganizationContext, id: number) {
  return { apply: view(await requireOwn(ctx, applyById, { id }), ctx.clock.now()) };
}

function view(row: TrialRow, now: Date) {
  const isOver = row.state === 'trying' && row.confirm_until !== null && row.confirm_until <= now;
  const { id, destinations, confirm_until, in_force_since: since, error, created_at, ended_at } = row;
  const state = isOver ? ('over' as const) : row.state;
  return {
    ...{ id, state, destinations, confirm_until, created_at },
    rule_ids: row.rules.map((rule) => rule.id),
    // Of one that is for good each rule says this.
    enforced:
      row.confirm_until === null
        ? null
        : {
            active: state === 'trying' && since !== null,
            generation: row.generation,
            since,
            error: error === null ? null : adviceOn(error),
          },
    ended_at: isOver ? confirm_until : ended_at,
  };
}

/** Keeps what is tried out. `trial_over` when its time is, `conflict` before the edge has it. */
export function confirmApply(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'shield.confirmApply', async (tx) => {
    await tx.db.maybe(lockById, { id, organizationId: tx.organizationId });
    const trial = await requireOwn(tx, applyById, { id });
    if (trial.state === 'confirmed') return readApply(tx, id);
    const now = tx.clock.now();
    if (trial.state !== 'trying' || trial.confirm_until === null || trial.confirm_until <= now)
      throw fail('trial_over');
    if (trial.in_force_since === null)
      throw fail('conflict', { message: 'These rules are not in force yet; confirm them once they are' });
    const kept = (await tx.db.many(keepTried, { id, now })).map(({ address }) => address);
    if (kept.length < trial.addresses.length) throw fail('trial_over');
    const before = await listRulesFor(tx, tx.organizationId, kept);
    const there = before.filter((rule) => kept.some((address) => isAbout(rule, address)));
    const ids = trial.rules.map((rule) => rule.id);
    const gone = there.filter((rule) => !ids.includes(rule.id)).map((rule) => rule.id);
    const rules = trial.rules.map(({ id: ruleId, expires_at, ...words }) => ({
      id: ruleId,
      isKept: there.some((rule) => rule.id === ruleId),
      words: { ...words, expires_at: expires_at === null ? null : new Date(expires_at) },
    }));
    await writeRules(tx, gone, rules, trial.generation);
    await tx.db.run(setConfirmed, { id, now });
    await record(tx, trialConfirmed, {
      subject: { type: 'shield_apply', id },
      data: { apply_id: id, destinations: trial.destinations, rules: rules.length },
    });
    await wantConfirmed(tx, id, trial.generation, kept);
    return readApply(tx, id);
  });
}

/** Takes back at once what is tried out. `trial_over` when there is nothing to take back. */
export function cancelApply(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'shield.cancelApply', async (tx) => {
    await tx.db.maybe(lockById, { id, organizationId: tx.organizationId });
    const trial = await requireOwn(tx, applyById, { id });
    if (trial.state === 'cancelled') return readApply(tx, id);
    const isOver = trial.confirm_until === null || trial.confirm_until <= tx.clock.now();
    if (trial.state !== 'trying' || isOver) throw fail('trial_over');
    await endTrials(tx, [id], 'cancelled');
    await record(tx, trialCancelled, {
      subject: { type: 'shield_apply', id },
      data: { apply_id: id, destinations: trial.destinations, rules: trial.rules.length },
    });
    return readApply(tx, id);
  });
}

function refuse(field: string, message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
}
