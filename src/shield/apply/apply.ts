import { record } from '../../events/index.ts';
import { type OrganizationContext, statement, type TxContext, transaction } from '../../platform/index.ts';
import type { AddressRow } from '../enforce/addressRows.ts';
import { endTrials, type TriedRule, wantTried } from '../enforce/trials.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { policyApplied, trialStarted } from '../events.ts';
import { newSmallId } from '../ids.ts';
import { checkLimits } from '../rules/limits.ts';
import { namesOf } from '../rules/require.ts';
import { lockRulesFor } from '../rules/store.ts';
import { forgetApplies } from './forget.ts';
import { type NewApply, requireWish, type Wish } from './wish.ts';
import { writeRules } from './write.ts';

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
/**
 * Replaces all rules of some addresses as one: for good, or for a while unless somebody confirms it. `would_lock_out` when the
 * caller could not reach SSH any more, unless it is tried out or forced.
 */
export function applyRules(ctx: OrganizationContext, body: NewApply) {
  return transaction(ctx, 'shield.applyRules', async (tx) => {
    const { wish, rows, tried, warnings } = await requireWish(tx, body, async (owned) => {
      await lockRulesFor(tx, namesOf(owned));
      return lockPolicies(tx, owned);
    });
    const seconds = body.confirm_within_s ?? null;
    const data =
      seconds === null
        ? await applyForGood(tx, wish, rows, tried)
        : await tryFor(tx, wish, rows, tried, seconds);
    await forgetApplies(tx);
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
  await writeRules(tx, wish.there, tried, generation);
  await checkLimits(tx, wish.owned);
  const id = await insertApply(tx, wish, tried, { generation, state: 'applied', until: null });
  await record(tx, policyApplied, {
    subject: { type: 'shield_apply', id },
    data: { apply_id: id, destinations: wish.destinations, rules: wish.rules.length },
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
      ...{ apply_id: id, destinations: wish.destinations, rules: wish.rules.length },
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
