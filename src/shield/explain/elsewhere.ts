import { EdgeError, type PacketKind, type TraceBounds, type Traced } from '../../drivers/edge/index.ts';
import {
  enqueue,
  job,
  newId,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { tellTraced, untilTold } from './told.ts';

interface TraceRow {
  kind: PacketKind;
  packets: number;
  seconds: number;
  traced: Traced[] | null;
  error: EdgeError['code'] | null;
}

const ask = statement<
  never,
  {
    id: number;
    organizationId: number;
    nodeId: number;
    kind: string;
    packets: number;
    seconds: number;
    now: Date;
  }
>(
  'shield.askTrace',
  `insert into shield_traces (id, organization_id, node_id, kind, packets, seconds, created_at)
   values (:id, :organizationId, :nodeId, :kind::jsonb, :packets, :seconds, :now)`,
);
const traceById = statement<TraceRow, { id: number }>(
  'shield.trace',
  'select kind, packets, seconds, traced, error from shield_traces where id = :id',
);
const tell = statement<never, { id: number; traced: string | null; error: string | null }>(
  'shield.tellTrace',
  'update shield_traces set traced = :traced::jsonb, error = :error where id = :id',
);
const drop = statement<never, { id: number }>('shield.dropTrace', 'delete from shield_traces where id = :id');
const dropOld = statement<never, { before: Date }>(
  'shield.dropOldTraces',
  'delete from shield_traces where created_at < :before',
);

const keptMs = 60_000;

/** Has packets traced at a node that another process runs, and waits for what it tells; until `signal` says that nobody does any more. */
export async function traceElsewhere(
  ctx: OrganizationContext,
  nodeId: number,
  kind: PacketKind,
  { packets, seconds }: TraceBounds,
  signal: AbortSignal,
): Promise<Traced[]> {
  const id = newId();
  const { organizationId } = ctx;
  await transaction(ctx, 'shield.askTrace', async (tx) => {
    const now = tx.clock.now();
    await tx.db.run(ask, {
      ...{ id, organizationId, nodeId, kind: JSON.stringify(kind), packets, seconds, now },
    });
    await enqueue(tx, tracing, { id, nodeId }, { nodeId });
  });
  const look = async () => {
    const row = await ctx.db.maybe(traceById, { id });
    if (row === null) return [];
    if (row.error !== null) throw new EdgeError(row.error, 'told by the process of the node');
    return row.traced;
  };
  try {
    return (await untilTold(ctx, id, look, signal)) ?? [];
  } finally {
    await ctx.db.run(drop, { id });
  }
}

/** For who waits somewhere else: nobody does after a minute. */
export const tracing = job<{ id: number; nodeId: number }>(
  'shield.trace',
  async ({ ctx, drivers, payload: { id, nodeId } }) => {
    const row = await ctx.db.maybe(traceById, { id });
    if (row === null) return;
    const { kind, packets, seconds } = row;
    try {
      const traced = await drivers.edge(nodeId).trace(kind, { packets, seconds });
      await ctx.db.run(tell, { id, traced: JSON.stringify(traced), error: null });
    } catch (error) {
      if (!(error instanceof EdgeError)) throw error;
      await ctx.db.run(tell, { id, traced: null, error: error.code });
    }
    await tellTraced(ctx, id);
  },
  { attempts: 1, failed: async () => 'unwanted' },
);

/** Those that nobody waits for, as its process died. */
export async function forgetTraces(tx: TxContext): Promise<void> {
  await tx.db.run(dropOld, { before: new Date(tx.clock.now().getTime() - keptMs) });
}
