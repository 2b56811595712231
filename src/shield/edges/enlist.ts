import { type Edge, EdgeError } from '../../drivers/edge/index.ts';
import { type Context, type Drivers, statement, transaction } from '../../platform/index.ts';

const enlist = statement<
  { id: number },
  {
    nodeId: number;
    kind: 'node' | 'router' | 'routers';
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

const nodesBehindHost = statement<{ name: string }, { name: string }>(
  'shield.nodesBehindHost',
  `select b.name from nodes n join shield_edges e on e.node_id = n.id and e.kind = 'router'
   join shield_fronts f on f.edge_id = e.id or f.in_charge = n.id join nodes b on b.id = f.node_id
   where n.name = :name order by b.name`,
);

/** Refuses that a host runs machines that filters for those of others: the error names them. */
export async function requireNothingBehind(ctx: Context, name: string): Promise<void> {
  const behind = (await ctx.db.many(nodesBehindHost, { name })).map((node) => node.name);
  if (behind.length === 0) return;
  throw new Error(
    `"${name}" filters for the machines of ${behind.join(', ')}: start it with HYPERVISOR=none, or take these nodes away ` +
      'from its edge first.',
  );
}

/** The edges of a node's process, by their ids. */
export interface OwnEdges {
  filter: number;
  /** Null where it speaks to no routers. */
  routers: number | null;
}

/** Writes down what stands in front of addresses at a node, before its own machines or those of others, as its process has opened it. */
export async function enlistEdges(
  ctx: Context,
  nodeId: number,
  kind: 'node' | 'router',
  { edge, routers }: Pick<Drivers, 'edge' | 'routers'>,
): Promise<OwnEdges> {
  const own = whatFilters(() => edge(nodeId));
  const now = ctx.clock.now();
  return transaction(ctx, 'shield.enlistEdges', async (tx) => {
    const filter = await tx.db.one(enlist, {
      ...{ nodeId, kind, suffix: '', now },
      ...own,
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
