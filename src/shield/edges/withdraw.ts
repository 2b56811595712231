import { enqueue, statement, type TxContext } from '../../platform/index.ts';
import { announce } from './announce.ts';

const withdraw = statement<
  { edge_id: number; node_id: number; served: boolean },
  { addresses: string[]; now: Date; millis: number }
>(
  'shield.withdraw',
  `update shield_announcements n set measure = null, generation = greatest(n.generation + 1, :millis::bigint), updated_at = :now
   from shield_edges e where e.id = n.edge_id and n.address = any(:addresses::inet[]) and n.measure is not null
   returning n.edge_id, e.node_id, e.served`,
);
const toldOfRules = statement<{ edge_id: number; node_id: number; served: boolean }, { addresses: string[] }>(
  'shield.toldOfRulesOf',
  `select e.id as edge_id, e.node_id, e.served from shield_edges e where e.kind = 'routers' and exists (
     select 1 from shield_announced_rules n where n.edge_id = e.id and n.address = any(:addresses::inet[]))`,
);

/** For the transaction in which addresses get another owner: routers are told of them no more. */
export async function withdrawAll(tx: TxContext, addresses: readonly string[]): Promise<void> {
  const now = tx.clock.now();
  const rows = await tx.db.many(withdraw, { addresses: [...addresses], now, millis: now.getTime() });
  const all = [...rows, ...(await tx.db.many(toldOfRules, { addresses: [...addresses] }))];
  const edges = new Map(all.filter(({ served }) => served).map(({ edge_id, node_id }) => [edge_id, node_id]));
  for (const [edgeId, nodeId] of edges) await enqueue(tx, announce, { edgeId, nodeId }, { nodeId });
}
