import { type Edge, EdgeError } from '../../drivers/edge/index.ts';
import { type Context, type Drivers, statement, transaction } from '../../platform/index.ts';

const enlist = statement<
  { id: number },
  {
    nodeId: number;
    kind: 'node' | 'routers';
    suffix: string;
    engine: string;
    reason: string | null;
    capabilities: readonly string[];
    now: Date;
  }
>(
  'shield.enlistEdge',
  `insert into shield_edges (node_id, kind, name, engine, reason, capabilities, served, created_at)
   select n.id, :kind, n.name || :suffix, :engine, :reason, :capabilities::text[], true, :now from nodes n where n.id = :nodeId
   on conflict (node_id, (kind = 'routers')) do update set kind = excluded.kind, engine = excluded.engine,
     reason = excluded.reason, capabilities = excluded.capabilities, served = true
   returning id`,
);
const unserve = statement<never, { nodeId: number }>(
  'shield.unserveRouters',
  `update shield_edges set served = false, error = null, error_since = null, peers_down_since = null
   where node_id = :nodeId and kind = 'routers'`,
);

/** The edges of a node's process, by their ids. */
export interface OwnEdges {
  filter: number;
  /** Null where it speaks to no routers. */
  routers: number | null;
}

/** Writes down what stands in front of addresses at a node, as its process has opened it. */
export async function enlistEdges(
  ctx: Context,
  nodeId: number,
  { edge, routers }: Pick<Drivers, 'edge' | 'routers'>,
): Promise<OwnEdges> {
  const own = whatFilters(() => edge(nodeId));
  const now = ctx.clock.now();
  return transaction(ctx, 'shield.enlistEdges', async (tx) => {
    const filter = await tx.db.one(enlist, {
      nodeId,
      kind: 'node',
      suffix: '',
      ...own,
      now,
    });
    if (!speaksToRouters(() => routers(nodeId))) {
      await tx.db.run(unserve, { nodeId });
      return { filter: filter.id, routers: null };
    }
    const told = { engine: 'bgp', reason: null, capabilities: [] };
    const { id } = await tx.db.one(enlist, { nodeId, kind: 'routers', suffix: ' routers', ...told, now });
    return { filter: filter.id, routers: id };
  });
}

function whatFilters(open: () => Edge): {
  engine: string;
  reason: string | null;
  capabilities: readonly string[];
} {
  try {
    const { kind: engine, capabilities } = open();
    return { engine, reason: null, capabilities };
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error;
    return { engine: 'none', reason: error.message, capabilities: [] };
  }
}

function speaksToRouters(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (error instanceof EdgeError && error.code === 'nothing_filters') return false;
    throw error;
  }
}
