import { record } from '../../events/index.ts';
import {
  fail,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import type { AddressRow } from '../enforce/addressRows.ts';
import {
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
import { adviceOn } from '../rules/advice.ts';
import { checkLimits } from '../rules/limits.ts';
import { namesOf } from '../rules/require.ts';
import { isAbout, listRulesFor } from '../rules/rows.ts';
import { insertRuleAs, removeRules, updateRule } from '../rules/store.ts';
import { type NewApply, requireWish, type Wish } from './wish.ts';

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

/**
 * Replaces all rules of some addresses as one: for good, or for a while unless somebody confirms it. `would_lock_out` when the
 * caller could not reach SSH any more, unless it is tried out or forced.
 */
export function applyRules(ctx: OrganizationContext, body: NewApply) {
  return transaction(ctx, 'shield.applyRules', async (tx) => {
    const { wish, rows, tried, warnings } = await requireWish(tx, body, (owned) => lockPolicies(tx, owned));
    const seconds = body.confirm_within_s ?? null;
    const data =
      seconds === null
        ? await applyForGood(tx, wish, rows, tried)
        : await tryFor(tx, wish, rows, tried, seconds);
    return { data, warnings };
  });
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
