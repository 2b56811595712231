import { EdgeError } from '../../drivers/edge/index.ts';
import { enqueue, job, statement, type TxContext } from '../../platform/index.ts';
import { byNode } from '../owned.ts';
import { single } from '../prefix.ts';
import type { RuleWords } from '../rules/match.ts';
import { isAbout } from '../rules/rows.ts';
import { type AddressRow, addressColumns } from './addressRows.ts';
import { applyNow, limitersFor, wordsOf } from './apply.ts';
import { policyOf, type Said } from './toEdge.ts';
import { inTurnOf } from './turn.ts';

/** A rule that is tried out: it has its id already, so that it keeps its counters when it stays. */
export interface TriedRule extends Omit<RuleWords, 'expires_at'> {
  id: number;
  expires_at: string | null;
  disabled: boolean;
  /** A rule for a wider network, which is there and stays as it is. */
  stays: boolean;
}

/** What is tried out. */
export interface TrialRow {
  id: number;
  organization_id: number;
  addresses: string[];
  destinations: string[];
  /** In the order in which they are looked at. Of one that is over there may be left `id` and `stays` alone. */
  rules: TriedRule[];
  generation: number;
  state: 'applied' | 'trying' | 'confirmed' | 'cancelled' | 'superseded';
  confirm_until: Date | null;
  in_force_since: Date | null;
  error: string | null;
  created_at: Date;
  ended_at: Date | null;
}

export const trialColumns = `id, organization_id, array(select host(a) from unnest(addresses) a) as addresses,
  destinations::text[] as destinations, rules, generation, state, confirm_until, in_force_since, error, created_at, ended_at`;

interface AtNode {
  nodeId: number;
  applyId: number;
  generation: number;
  addresses: string[];
}

const trialById = statement<TrialRow, { id: number }>(
  'shield.trialForEdge',
  `select ${trialColumns} from shield_applies where id = :id`,
);
const addressesTried = statement<AddressRow, { id: number; addresses: string[] }>(
  'shield.addressesTried',
  `select ${addressColumns} from shield_addresses t
   where t.trial_id = :id and t.address = any(:addresses::inet[]) order by t.address`,
);
const setTried = statement<never, { id: number; now: Date }>(
  'shield.setTried',
  'update shield_applies set in_force_since = coalesce(in_force_since, :now::timestamptz), error = null where id = :id',
);
const setFailed = statement<never, { id: number; error: string }>(
  'shield.setTrialFailed',
  'update shield_applies set error = :error where id = :id',
);
const end = statement<
  { id: number; generation: number; addresses: string[] },
  { ids: number[]; state: string; now: Date }
>(
  'shield.endTrials',
  `update shield_applies set state = :state, ended_at = :now
   where id = any(:ids::int[]) and state = 'trying' and confirm_until > :now
   returning id, generation, array(select host(a) from unnest(addresses) a) as addresses`,
);
const clear = statement<never, { ids: number[] }>(
  'shield.clearTrials',
  `update shield_addresses set trial_id = null, trial_generation = null, trial_until = null
   where trial_id = any(:ids::int[])`,
);

/** Has the edges try out what a row of `shield_applies` says. */
export async function wantTried(
  tx: TxContext,
  id: number,
  generation: number,
  addresses: readonly string[],
): Promise<void> {
  for (const [nodeId, there] of await byNode(tx, addresses))
    await enqueue(tx, tryOut, { nodeId, applyId: id, generation, addresses: there }, { nodeId });
}

/** Has what is tried out stay in force. */
export async function wantConfirmed(
  tx: TxContext,
  id: number,
  generation: number,
  addresses: readonly string[],
): Promise<void> {
  for (const [nodeId, there] of await byNode(tx, addresses))
    await enqueue(tx, confirmTrial, { nodeId, applyId: id, generation, addresses: there }, { nodeId });
}

/** Ends trials before their time, as far as they go on, and has the edges take them back. */
export async function endTrials(
  tx: TxContext,
  trials: readonly number[],
  state: 'cancelled' | 'superseded',
): Promise<void> {
  const ids = [...new Set(trials)];
  if (ids.length === 0) return;
  await tx.db.run(clear, { ids });
  for (const { id, generation, addresses } of await tx.db.many(end, { ids, state, now: tx.clock.now() })) {
    for (const [nodeId, there] of await byNode(tx, addresses))
      await enqueue(tx, takeBackTrial, { nodeId, applyId: id, generation, addresses: there }, { nodeId });
  }
}

export const tryOut = job<AtNode>(
  'shield.try',
  ({ ctx, drivers, payload: { nodeId, applyId, addresses } }) =>
    inTurnOf(nodeId, async () => {
      const trial = await ctx.db.maybe(trialById, { id: applyId });
      const left = (trial?.confirm_until?.getTime() ?? 0) - ctx.clock.now().getTime();
      if (trial?.state !== 'trying' || left <= 0) return;
      const rows = await ctx.db.many(addressesTried, { id: applyId, addresses });
      const rules = saidOf(trial.rules);
      const limiters = await limitersFor(ctx, rules);
      const policies = rows.map(({ address, unmatched }) => {
        const there = rules.filter((rule) => isAbout({ ...rule, given_back: [] }, address));
        return policyOf(address, trial.generation, unmatched, there, limiters);
      });
      try {
        await drivers.edge(nodeId).try(policies, Math.ceil(left / 1_000));
      } catch (error) {
        await ctx.db.run(setFailed, { id: applyId, error: wordsOf(error) });
        throw error;
      }
      await ctx.db.run(setTried, { id: applyId, now: ctx.clock.now() });
    }),
  { attempts: 3, failed: async () => 'unwanted' },
);

/** A trial that the edge has ended in the meantime is written anew: whoever confirmed it was in time. */
export const confirmTrial = job<AtNode>(
  'shield.confirm',
  ({ ctx, drivers, payload: { nodeId, generation, addresses } }) =>
    inTurnOf(nodeId, async () => {
      try {
        await drivers.edge(nodeId).confirm(versions(addresses, generation));
      } catch (error) {
        if (!(error instanceof EdgeError && error.permanent)) throw error;
      }
      await applyNow(ctx, nodeId, drivers.edge, addresses);
    }),
  { attempts: 3, failed: async () => 'unwanted' },
);

/** What is not taken back by this ends by itself. */
export const takeBackTrial = job<AtNode>(
  'shield.takeBack',
  ({ drivers, payload: { nodeId, generation, addresses } }) =>
    inTurnOf(nodeId, () => drivers.edge(nodeId).takeBack(versions(addresses, generation))),
  { attempts: 3, failed: async () => 'unwanted' },
);

function versions(addresses: readonly string[], generation: number) {
  return addresses.map((address) => ({ destination: single(address).text, generation }));
}

/** What an edge has to know of rules that are tried out: nothing of those that are off. */
export function saidOf(rules: readonly TriedRule[]): Said[] {
  return rules
    .filter(({ disabled }) => !disabled)
    .map(({ rate_limiter_id, ...rule }) => ({ ...rule, limiter_id: rate_limiter_id }));
}
