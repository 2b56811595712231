import { EdgeError, type Policy } from '../../drivers/edge/index.ts';
import { type Context, enqueue, job, statement, transaction } from '../../platform/index.ts';
import { nodesBehind } from '../edges/places.ts';
import { addressOf, prefixFrom, single } from '../prefix.ts';
import { byAddress, isActive, listRulesFor } from '../rules/rows.ts';
import { findElsewhere } from '../watch/watched.ts';
import { type AddressRow, addressColumns } from './addressRows.ts';
import { countNow } from './count.ts';
import { type RuleInForce, recordError, recordInForce } from './record.ts';
import { type LimiterRow, policyOf } from './toEdge.ts';
import { type EdgeOf, inTurnOf } from './turn.ts';

interface Payload {
  nodeId: number;
  addresses: string[];
}

/**
 * Has the edge of a node do what is wanted of these addresses, as it stands when the job comes to it. What stays undone after a
 * few tries is shown with the rules, and tried again by the comparison every minute.
 */
export const applyPolicies = job<Payload>(
  'shield.apply',
  async ({ ctx, drivers, payload: { nodeId, addresses } }) => {
    // Of many changes in a row the first turn does what the last one wants; the others would keep their neighbours waiting for nothing.
    const apply = () => applyNow(ctx, nodeId, drivers.edge, addresses, isWaitingAt(nodeId));
    // Of the changes of an address one is in the node's line, so that who makes many keeps nobody waiting for more than that.
    await inTurnOf(`${nodeId} ${addresses[0]}`, () => inTurnOf(nodeId, apply));
  },
  { attempts: 3, failed: async () => 'unwanted' },
);

const wantedThere = statement<AddressRow, { nodeId: number; addresses: string[] }>(
  'shield.wantedAtNode',
  `select ${addressColumns} from shield_addresses t
   join addresses a on a.address = t.address and a.service_id = t.service_id and a.state = 'taken'
   join placements p on p.service_id = a.service_id
   where t.address = any(:addresses::inet[]) and p.node_id in ${nodesBehind} order by t.address`,
);
const limitersOf = statement<LimiterRow, { ids: number[] }>(
  'shield.limitersForEdge',
  `select id, packets_per_second, bits_per_second, per, burst from shield_limiters where id = any(:ids::int[])`,
);

/** Whether an edge has not, as far as is written down, what is wanted of an address. */
function isWaitingAt(nodeId: number): (row: AddressRow) => boolean {
  return ({ in_force, in_force_node, generation, error }) =>
    in_force !== generation || in_force_node !== nodeId || error !== null;
}

/** The same, in a turn that is taken already, of those that are to be done. Fails as the edge does, once that is written down. */
export async function applyNow(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  addresses: readonly string[],
  isToDo: (row: AddressRow) => boolean = () => true,
): Promise<void> {
  // The addresses first: what has changed when their rules are read comes with another turn under a newer number.
  const there = await ctx.db.many(wantedThere, { nodeId, addresses: [...addresses] });
  const gone = addresses.filter((address) => there.every((row) => row.address !== address));
  const rows = there.filter(isToDo);
  if (rows.length + gone.length === 0) return;
  try {
    const edge = edgeOf(nodeId);
    const { policies, rules } = await readPolicies(ctx, rows);
    if (policies.length > 0) await edge.replace(policies);
    const done = policies.map(({ destination, generation }) => ({
      address: addressOf(prefixFrom(destination)),
      generation,
    }));
    await recordInForce(ctx, nodeId, done, rules);
    await dismissBefore(ctx, nodeId, rows);
    await letGo(ctx, nodeId, edgeOf, gone);
  } catch (error) {
    const waiting = rows.filter(
      ({ in_force, in_force_node, generation }) => in_force !== generation || in_force_node !== nodeId,
    );
    await recordError(
      ctx,
      waiting.map(({ address }) => address),
      wordsOf(error),
    );
    throw error;
  }
}

/** Whoever had these policies in force before lets go of them now. */
async function dismissBefore(ctx: Context, nodeId: number, rows: readonly AddressRow[]): Promise<void> {
  const moved = rows.filter(({ in_force_node: at }) => at !== null && at !== nodeId);
  if (moved.length === 0) return;
  await transaction(ctx, 'shield.dismissBefore', async (tx) => {
    for (const [before, theirs] of Map.groupBy(moved, ({ in_force_node: at }) => at)) {
      if (before === null) continue;
      const addresses = theirs.map(({ address }) => address);
      await enqueue(tx, applyPolicies, { nodeId: before, addresses }, { nodeId: before });
    }
  });
}

/** What an edge said, by its code; the message is for staff. */
export function wordsOf(error: unknown): string {
  if (error instanceof EdgeError) return `${error.code}: ${error.message}`;
  return `edge_refused: ${error instanceof Error ? error.message : String(error)}`;
}

/** The limiters that rules name. */
export async function limitersFor(
  ctx: Context,
  rules: readonly { limiter_id: number | null }[],
): Promise<Map<number, LimiterRow>> {
  const ids = [...new Set(rules.flatMap(({ limiter_id }) => limiter_id ?? []))];
  return new Map((await ctx.db.many(limitersOf, { ids })).map((row) => [row.id, row]));
}

/** The policies of addresses as they are wanted, and which version of which rule is in them. */
export async function readPolicies(
  ctx: Context,
  rows: readonly AddressRow[],
): Promise<{ policies: Policy[]; rules: RuleInForce[] }> {
  const now = ctx.clock.now();
  const policies: Policy[] = [];
  const inForce = new Map<number, RuleInForce>();
  for (const [organizationId, theirs] of Map.groupBy(rows, ({ organization_id }) => organization_id)) {
    const rules = await listRulesFor(
      ctx,
      organizationId,
      theirs.map(({ address }) => address),
    );
    const limiters = await limitersFor(ctx, rules);
    for (const { id, generation, ...rule } of rules)
      inForce.set(id, { id, generation, active: isActive(rule, now) });
    const about = byAddress(rules.filter((rule) => isActive(rule, now)));
    for (const { address, generation, unmatched } of theirs) {
      const active = about(address);
      policies.push(policyOf(address, generation, unmatched, active, limiters));
    }
  }
  return { policies, rules: [...inForce.values()] };
}

const stillNeeded = statement<{ address: string }, { nodeId: number; addresses: string[] }>(
  'shield.neededUntilTaken',
  `select host(t.address) as address from shield_addresses t
   join addresses a on a.address = t.address and a.service_id = t.service_id and a.state = 'taken'
   join placements p on p.service_id = a.service_id
   where t.address = any(:addresses::inet[]) and t.generation > 0 and not p.node_id in ${nodesBehind}
     and coalesce(t.in_force_node, :nodeId) = :nodeId`,
);

/** Which of these addresses another node looks after, but does not filter for yet: until it does, a node keeps what it has of them. */
export async function keptForOther(
  ctx: Context,
  nodeId: number,
  addresses: readonly string[],
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await ctx.db.many(stillNeeded, { nodeId, addresses: [...addresses] });
  return new Set(rows.map(({ address }) => address));
}

/** Takes addresses out of the edge of a node that has them no more; what was counted for them until then is kept where it counts. */
export async function letGo(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  some: readonly string[],
): Promise<void> {
  const kept = await keptForOther(ctx, nodeId, some);
  const addresses = some.filter((address) => !kept.has(address));
  if (addresses.length === 0) return;
  const edge = edgeOf(nodeId);
  const networks = addresses.map((address) => single(address).text);
  const held = (await edge.list()).filter(({ destination }) => networks.includes(destination));
  // What stands against an attack on whoever had it goes as well; where the attack goes on elsewhere, once it is met there.
  const unmet = (await findElsewhere(ctx, nodeId, addresses)).filter(({ is_met }) => !is_met);
  const attacked = new Set(unmet.map(({ address }) => single(address).text));
  const measures = held.filter(({ as, destination }) => as === 'mitigation' && !attacked.has(destination));
  await edge.release(measures.map(({ destination, generation }) => ({ destination, generation })));
  const newest = new Map<string, number>();
  for (const { destination, generation, as } of held) {
    if (as !== 'mitigation') newest.set(destination, Math.max(generation, newest.get(destination) ?? 0));
  }
  if (newest.size === 0) return;
  await edge.remove([...newest].map(([destination, generation]) => ({ destination, generation })));
  await countNow(ctx, nodeId, edgeOf, addresses);
}
