import { EdgeError, type Held } from '../../drivers/edge/index.ts';
import { type Context, causesOf, statement, transaction } from '../../platform/index.ts';
import { handOver, takeOver } from '../edges/handOver.ts';
import { nodesBehind } from '../edges/places.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import { listRulesFor } from '../rules/rows.ts';
import { isForCounting } from '../watch/watched.ts';
import { type AddressRow, addressColumns } from './addressRows.ts';
import { applyNow, keptForOther, letGo, wordsOf } from './apply.ts';
import { recordError, recordLost } from './record.ts';
import { type EdgeOf, inTurnOf } from './turn.ts';

const wantedOnNode = statement<AddressRow, { nodeId: number }>(
  'shield.wantedOnNode',
  `select ${addressColumns} from placements p
   join addresses a on a.service_id = p.service_id and a.state = 'taken'
   join shield_addresses t on t.address = a.address and t.service_id = a.service_id
   where p.node_id in ${nodesBehind} order by t.address`,
);
const overtake = statement<never, { addresses: string[]; generations: number[]; millis: number }>(
  'shield.overtake',
  `update shield_addresses t set generation = greatest(w.generation + 1, :millis::bigint)
   from (select address, generation from unnest(:addresses::inet[], :generations::bigint[]) as u(address, generation)
     order by address) w
   where t.address = w.address and t.generation < w.generation`,
);

/**
 * Compares what the edge of a node holds with what is wanted there, and repairs the difference: what was lost, what is newer than
 * this database knows (it came back from a backup), what is of addresses that are elsewhere or nobody's. What is right is
 * left alone.
 */
export async function reconcileEdge(ctx: Context, nodeId: number, edgeOf: EdgeOf): Promise<void> {
  await handOver(ctx, nodeId, edgeOf);
  await takeOver(ctx, nodeId);
  return inTurnOf(nodeId, async () => {
    let held: Held[];
    try {
      held = await edgeOf(nodeId).list();
    } catch (error) {
      const rows = await ctx.db.many(wantedOnNode, { nodeId });
      await recordError(ctx, namesOf(rows.filter(isWaiting)), wordsOf(error));
      if (rows.some(isWanted) && !(error instanceof EdgeError && error.permanent)) throw error;
      return;
    }
    await repair(ctx, nodeId, edgeOf, held);
  });
}

async function repair(ctx: Context, nodeId: number, edgeOf: EdgeOf, held: readonly Held[]): Promise<void> {
  const edge = edgeOf(nodeId);
  const known = await ctx.db.many(wantedOnNode, { nodeId });
  const wanted = known.filter(isWanted);
  const byAddress = new Map(wanted.map((row) => [row.address, row]));
  const policies = new Map(held.filter(({ as }) => as === 'policy').map((each) => [placeOf(each), each]));

  const newer = wanted.filter((row) => (policies.get(row.address)?.generation ?? 0) > row.generation);
  if (newer.length > 0) {
    const generations = newer.map(({ address }) => policies.get(address)?.generation ?? 0);
    const millis = ctx.clock.now().getTime();
    await transaction(ctx, 'shield.overtake', (tx) =>
      tx.db.run(overtake, { addresses: namesOf(newer), generations, millis }),
    );
  }
  // What another has in force still, while it goes over, nobody has lost: it lets go once this one says that it filters.
  const lost = wanted.filter(
    ({ address, in_force, in_force_node }) =>
      in_force !== null && in_force_node === nodeId && !policies.has(address),
  );
  if (lost.length > 0) await noteLost(ctx, lost);
  const different = wanted.filter(
    (row) =>
      policies.get(row.address)?.generation !== row.generation ||
      row.in_force !== row.generation ||
      row.in_force_node !== nodeId ||
      row.error !== null,
  );
  // One that has been confirmed since the edge was asked is what is wanted. Addresses that never had rules may have one as well.
  const tried = new Map(known.map((row) => [row.address, [row.trial_generation, row.generation]]));
  const unknown = held.filter(
    (each) => each.as === 'trial' && !tried.get(placeOf(each))?.includes(each.generation),
  );
  const kept = await keptForOther(ctx, nodeId, unknown.map(placeOf));
  await edge.takeBack(
    unknown
      .filter((each) => !kept.has(placeOf(each)))
      .map(({ destination, generation }) => ({ destination, generation })),
  );
  await letGo(
    ctx,
    nodeId,
    edgeOf,
    // What is held for counting alone, its watcher lets go of.
    [...policies]
      .filter(([address, each]) => !byAddress.has(address) && !isForCounting(each))
      .map(([address]) => address),
  );
  if (different.length === 0) return;
  ctx.log.info({ node: nodeId, addresses: different.length }, 'rules at the edge are put right');
  await applyEach(ctx, nodeId, edgeOf, namesOf(different));
}

/** Together as long as that is possible; an address whose rules an edge cannot take keeps no other one waiting. */
async function applyEach(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  addresses: readonly string[],
): Promise<void> {
  try {
    await applyNow(ctx, nodeId, edgeOf, addresses);
  } catch (error) {
    if (addresses.length === 1) {
      ctx.log.warn(
        { node: nodeId, addresses, err: causesOf(error) },
        'an edge does not take the rules of an address',
      );
      return;
    }
    const half = Math.ceil(addresses.length / 2);
    await applyEach(ctx, nodeId, edgeOf, addresses.slice(0, half));
    await applyEach(ctx, nodeId, edgeOf, addresses.slice(half));
  }
}

async function noteLost(ctx: Context, lost: readonly AddressRow[]): Promise<void> {
  for (const [organizationId, theirs] of Map.groupBy(lost, ({ organization_id }) => organization_id)) {
    const rules = await listRulesFor(ctx, organizationId, namesOf(theirs));
    await recordLost(
      ctx,
      namesOf(theirs),
      rules.map(({ id }) => id),
    );
  }
}

function isWanted({ generation }: AddressRow): boolean {
  return generation > 0;
}

function isWaiting(row: AddressRow): boolean {
  return isWanted(row) && row.in_force !== row.generation;
}

function namesOf(rows: readonly AddressRow[]): string[] {
  return rows.map(({ address }) => address);
}

function placeOf({ destination }: Held): string {
  return addressOf(prefixFrom(destination));
}
