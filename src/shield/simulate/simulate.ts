import { judgeHeadsOf, type Policy, type Verdict } from '../../drivers/edge/index.ts';
import { createTurns } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, transaction } from '../../platform/index.ts';
import { type NewApply, requireWish } from '../apply/wish.ts';
import { peekPolicies } from '../enforce/addressRows.ts';
import { readPolicies } from '../enforce/apply.ts';
import { eachFlows } from '../flows/find.ts';
import type { Flow } from '../flows/flow.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import { namesOf } from '../rules/require.ts';
import { addToTops, noTops, type Tops, viewTops } from '../tops.ts';
import { certaintyOf } from './certainty.ts';
import { addFlow, noTally, type Tally, viewTally } from './tally.ts';

const hourMs = 3_600_000;

// Those that run take turns with all else that this process does: one of each organization, or one would have most of them.
const patienceMs = 15_000;
const turns = createTurns(1, patienceMs, () =>
  fail('rate_limited', { message: 'Another simulation of yours runs; repeat this one', retryAfterS: 5 }),
);

/** What becomes of packets otherwise than it does now. */
interface Change {
  tally: Tally;
  tops: Tops;
}

interface Sums {
  all: Tally;
  /** By rule; null: what none matches. */
  ofRules: Map<number | null, Tally>;
  dropped: Change;
  permitted: Change;
}

/**
 * What a whole set of rules would have done to the flows of the last hour, and what of that is otherwise than with the rules that are
 * wanted now. Changes nothing; all refusals of `applyRules`.
 */
export async function simulateRules(ctx: OrganizationContext, body: NewApply) {
  const leave = await turns.take(String(ctx.organizationId));
  try {
    return await simulate(ctx, body);
  } finally {
    leave();
  }
}

async function simulate(ctx: OrganizationContext, body: NewApply) {
  const { checked, now } = await transaction(ctx, 'shield.readSimulated', async (tx) => {
    const wished = await requireWish(tx, body, (owned) => peekPolicies(tx, owned));
    return { checked: wished, now: (await readPolicies(tx, wished.rows)).policies };
  });
  const { wish, rows, policies, warnings } = checked;
  const until = ctx.clock.now();
  const since = new Date(until.getTime() - hourMs);
  const sums: Sums = { all: noTally(), ofRules: new Map(), dropped: noChange(), permitted: noChange() };
  const [before, after] = [judgesOf(now), judgesOf(policies)];
  const found = await eachFlows(ctx, namesOf(wish.owned), { since, until }, (address, flows, times) => {
    const [wasDone, isDone] = [before.get(address), after.get(address)];
    if (wasDone === undefined || isDone === undefined) return;
    for (const flow of flows) add(sums, flow, times, wasDone(flow.head), isDone(flow.head));
  });
  const { all, ofRules } = sums;
  const isLimited = policies.some(({ rules }) => rules.some(({ limit }) => limit !== null));
  const data = {
    ...{ since, until },
    in_force: rows.every(({ in_force, generation }) => generation === 0 || in_force === generation),
    certainty: certaintyOf(all, found, isLimited),
    total: viewTally(all, all),
    rules: wish.rules.map(({ id, age, words }) => {
      const { action, destination, rate_limiter_id, rate } = words;
      const limited = rate_limiter_id !== null || rate !== null;
      const tally = viewTally(ofRules.get(id) ?? noTally(), all);
      return { rule_id: age === null ? null : id, destination, action, limited, ...tally };
    }),
    unmatched: viewTally(ofRules.get(null) ?? noTally(), all),
    newly_dropped: viewChange(sums.dropped, all),
    newly_permitted: viewChange(sums.permitted, all),
  };
  return { data, warnings };
}

type Judge = (head: Flow['head']) => Verdict;

function judgesOf(policies: readonly Policy[]): Map<string, Judge> {
  return new Map(policies.map((policy) => [addressOf(prefixFrom(policy.destination)), judgeHeadsOf(policy)]));
}

function add(sums: Sums, flow: Flow, times: number, was: Verdict, is: Verdict): void {
  addFlow(sums.all, flow, times);
  const rule = is.rule?.id ?? null;
  let tally = sums.ofRules.get(rule);
  if (tally === undefined) {
    tally = noTally();
    sums.ofRules.set(rule, tally);
  }
  addFlow(tally, flow, times);
  if (was.action === is.action) return;
  const change = is.action === 'deny' ? sums.dropped : sums.permitted;
  addFlow(change.tally, flow, times);
  addToTops(change.tops, flow.head, flow.packets * times);
}

function noChange(): Change {
  return { tally: noTally(), tops: noTops() };
}

function viewChange({ tally, tops }: Change, all: Tally) {
  return { ...viewTally(tally, all), tops: viewTops(tops) };
}
