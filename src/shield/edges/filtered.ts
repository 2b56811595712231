import { type Context, statement } from '../../platform/index.ts';

// One that says a reason filters nothing.
const unfiltered = statement<{ id: number }, { nodeId: number | null; clusterId: number | null }>(
  'shield.unfilteredNode',
  `select n.id from nodes n left join shield_fronts f on f.node_id = n.id
   where n.left_at is null and (n.id = :nodeId or n.cluster_id = :clusterId) and not exists (
     select 1 from shield_edges e where e.kind <> 'routers' and e.reason is null and e.node_id = coalesce(f.in_charge, n.id)) limit 1`,
);

/** Whether an edge filters before a node, or before all members of a cluster. */
export async function isFiltered(
  ctx: Context,
  { nodeId, clusterId }: { nodeId?: number; clusterId?: number },
): Promise<boolean> {
  return (await ctx.db.maybe(unfiltered, { nodeId: nodeId ?? null, clusterId: clusterId ?? null })) === null;
}
