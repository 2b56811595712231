import { EdgeError } from '../../drivers/edge/index.ts';
import {
  type Context,
  causesOf,
  enqueue,
  job,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { applyPolicies } from '../enforce/apply.ts';
import { countNow } from '../enforce/count.ts';
import { tryOut } from '../enforce/trials.ts';
import type { EdgeOf } from '../enforce/turn.ts';

/** A node whose machines another is to look after than the one that does. */
interface Front {
  node_id: number;
  in_charge: number;
  is_silent: boolean;
}

const pending = `select f.node_id, f.in_charge, not n.reachable as is_silent
  from shield_fronts f left join shield_edges e on e.id = f.edge_id join nodes n on n.id = f.in_charge
  where f.in_charge <> coalesce(e.node_id, f.node_id)`;
const toHandOver = statement<Front, { nodeId: number }>(
  'shield.toHandOver',
  `${pending} and f.in_charge = :nodeId order by f.node_id`,
);
const toTakeOver = statement<Front, { nodeId: number }>(
  'shield.toTakeOver',
  `${pending} and coalesce(e.node_id, f.node_id) = :nodeId and not n.reachable order by f.node_id`,
);
const ofNodes = statement<Front, { ids: number[] }>(
  'shield.frontsToHandOver',
  `${pending} and f.node_id = any(:ids::bigint[]) order by f.node_id`,
);
// Who is to have it is read as it is given: staff may have said otherwise since, and has told whoever was in charge then.
const give = statement<{ heir: number }, { nodeId: number; inCharge: number }>(
  'shield.handOver',
  `update shield_fronts f set in_charge = coalesce((select e.node_id from shield_edges e where e.id = f.edge_id), f.node_id)
   where f.node_id = :nodeId and f.in_charge = :inCharge
     and f.in_charge <> coalesce((select e.node_id from shield_edges e where e.id = f.edge_id), f.node_id)
   returning f.in_charge as heir`,
);
const dropNone = statement<never, { ids: number[] }>(
  'shield.dropFronts',
  `delete from shield_fronts where node_id = any(:ids::bigint[]) and edge_id is null and in_charge = node_id`,
);
const wantedAt = statement<{ address: string }, { nodeId: number }>(
  'shield.wantedAtMachinesOf',
  `select host(t.address) as address from placements p
   join addresses a on a.service_id = p.service_id and a.state = 'taken'
   join shield_addresses t on t.address = a.address and t.service_id = a.service_id and t.generation > 0
   where p.node_id = :nodeId order by t.address`,
);
const triedAt = statement<
  { id: number; generation: number; addresses: string[] },
  { addresses: string[]; now: Date }
>(
  'shield.triedAtAddresses',
  `select s.id, s.generation, array_agg(host(t.address) order by t.address) as addresses
   from shield_addresses t join shield_applies s on s.id = t.trial_id
   where t.address = any(:addresses::inet[]) and s.state = 'trying' and s.confirm_until > :now
   group by s.id, s.generation order by s.id`,
);

/**
 * Gives up what another node is to look after. It is counted for the last time, so that no packet is counted at both; what filters
 * stays until the other says that it does.
 */
export async function handOver(ctx: Context, nodeId: number, edgeOf: EdgeOf): Promise<void> {
  for (const front of await ctx.db.many(toHandOver, { nodeId })) {
    const addresses = await addressesOf(ctx, front.node_id);
    if (addresses.length > 0) await countLast(ctx, nodeId, edgeOf, addresses);
    await transaction(ctx, 'shield.handOver', (tx) => giveAway(tx, front));
  }
}

/** An edge that does not answer holds nobody up: what it has counted since it was read last is lost. */
async function countLast(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  addresses: readonly string[],
): Promise<void> {
  try {
    await countNow(ctx, nodeId, edgeOf, addresses);
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error;
    ctx.log.warn({ err: causesOf(error), node: nodeId }, 'what rules counted last could not be read');
  }
}

/** What a node is to look after that nobody is heard of for: what they counted last is not known, so that nothing is counted twice. */
export async function takeOver(ctx: Context, nodeId: number): Promise<void> {
  for (const front of await ctx.db.many(toTakeOver, { nodeId }))
    await transaction(ctx, 'shield.takeOver', (tx) => giveAway(tx, front));
}

/** Has whoever is in charge of these nodes hand over, as far as another is to be; at once where nobody is heard of. */
export async function wantHandedOver(tx: TxContext, ids: readonly number[]): Promise<void> {
  const given = [...ids];
  await tx.db.run(dropNone, { ids: given });
  const fronts = await tx.db.many(ofNodes, { ids: given });
  for (const front of fronts.filter(({ is_silent }) => is_silent)) await giveAway(tx, front);
  const asked = fronts.filter(({ is_silent }) => !is_silent).map(({ in_charge }) => in_charge);
  for (const nodeId of new Set(asked)) await enqueue(tx, handingOver, { nodeId }, { nodeId });
}

async function giveAway(tx: TxContext, { node_id: nodeId, in_charge: inCharge }: Front): Promise<void> {
  const given = await tx.db.maybe(give, { nodeId, inCharge });
  if (given === null) return;
  const { heir } = given;
  await tx.db.run(dropNone, { ids: [nodeId] });
  const addresses = await addressesOf(tx, nodeId);
  if (addresses.length === 0) return;
  await enqueue(tx, applyPolicies, { nodeId: heir, addresses }, { nodeId: heir });
  const now = tx.clock.now();
  for (const { id, generation, addresses: tried } of await tx.db.many(triedAt, { addresses, now }))
    await enqueue(tx, tryOut, { nodeId: heir, applyId: id, generation, addresses: tried }, { nodeId: heir });
}

async function addressesOf(ctx: Context, nodeId: number): Promise<string[]> {
  return (await ctx.db.many(wantedAt, { nodeId })).map(({ address }) => address);
}

/** What is not done by this, the comparison every minute does. */
export const handingOver = job<{ nodeId: number }>(
  'shield.handOver',
  ({ ctx, drivers, payload: { nodeId } }) => handOver(ctx, nodeId, drivers.edge),
  { attempts: 3, failed: async () => 'unwanted' },
);
