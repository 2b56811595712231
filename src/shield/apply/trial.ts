import { record } from '../../events/index.ts';
import {
  fail,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { endTrials, type TrialRow, type TriedRule, trialColumns, wantConfirmed } from '../enforce/trials.ts';
import { lockKnownPolicies } from '../enforce/wanted.ts';
import { trialCancelled, trialConfirmed } from '../events.ts';
import { adviceOn } from '../rules/advice.ts';
import { isAbout, listRulesFor } from '../rules/rows.ts';
import { lockRulesFor } from '../rules/store.ts';
import { writeRules } from './write.ts';

const applyById = statement<TrialRow, { id: number }>(
  'shield.applyOfId',
  `select ${trialColumns} from shield_applies where id = :id`,
);
const lockById = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockApply',
  'select id from shield_applies where id = :id and organization_id = :organizationId for update',
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

/** Null when there is none of the caller's. */
export async function findApply(ctx: OrganizationContext, id: number) {
  const row = await ctx.db.maybe(applyById, { id });
  return row?.organization_id === ctx.organizationId ? view(row, ctx.clock.now()) : null;
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
    rule_ids: rulesIn(row).map((rule) => rule.id),
    seconds_left:
      state === 'trying' && confirm_until !== null
        ? Math.ceil((confirm_until.getTime() - now.getTime()) / 1_000)
        : null,
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

/**
 * Keeps what is tried out. `trial_over` when its time is, `conflict` before the edge has it; `connection_too_old` where it has to come
 * over a connection that was opened since, and did not.
 */
export function confirmApply(ctx: OrganizationContext, id: number, since: Date | null) {
  return transaction(ctx, 'shield.confirmApply', async (tx) => {
    const trial = await lockTrial(tx, id);
    if (trial.state === 'confirmed') return readApply(tx, id);
    const now = tx.clock.now();
    if (trial.state !== 'trying' || trial.confirm_until === null || trial.confirm_until <= now)
      throw fail('trial_over');
    if (trial.in_force_since === null)
      throw fail('conflict', { message: 'These rules are not in force yet; confirm them once they are' });
    if (since !== null && since < trial.in_force_since)
      throw fail('connection_too_old', { endsConnection: true });
    const kept = (await tx.db.many(keepTried, { id, now })).map(({ address }) => address);
    if (kept.length < trial.addresses.length) throw fail('trial_over');
    const before = await listRulesFor(tx, tx.organizationId, kept);
    const there = before.filter((rule) => kept.some((address) => isAbout(rule, address)));
    await writeRules(tx, there, trial.rules, trial.generation);
    await tx.db.run(setConfirmed, { id, now });
    await record(tx, trialConfirmed, {
      subject: { type: 'shield_apply', id },
      data: { apply_id: id, destinations: trial.destinations, rules: rulesIn(trial).length },
    });
    await wantConfirmed(tx, id, trial.generation, kept);
    return readApply(tx, id);
  });
}

/** Takes back at once what is tried out. `trial_over` when there is nothing to take back. */
export function cancelApply(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'shield.cancelApply', async (tx) => {
    const trial = await lockTrial(tx, id);
    if (trial.state === 'cancelled') return readApply(tx, id);
    const isOver = trial.confirm_until === null || trial.confirm_until <= tx.clock.now();
    if (trial.state !== 'trying' || isOver) throw fail('trial_over');
    await endTrials(tx, [id], 'cancelled');
    await record(tx, trialCancelled, {
      subject: { type: 'shield_apply', id },
      data: { apply_id: id, destinations: trial.destinations, rules: rulesIn(trial).length },
    });
    return readApply(tx, id);
  });
}

/** Holds its addresses before it, as whoever puts other rules in its place. `not_found`, `forbidden`. */
async function lockTrial(tx: OrganizationContext & TxContext, id: number): Promise<TrialRow> {
  const { addresses } = await requireOwn(tx, applyById, { id });
  await lockRulesFor(tx, addresses);
  await lockKnownPolicies(tx, addresses);
  await tx.db.maybe(lockById, { id, organizationId: tx.organizationId });
  return requireOwn(tx, applyById, { id });
}

/** Without those for wider networks, which were there and stay. */
function rulesIn({ rules }: TrialRow): TriedRule[] {
  return rules.filter(({ stays }) => !stays);
}
