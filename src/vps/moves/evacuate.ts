import { record } from '../../events/index.ts';
import { listPlacedAt, setNodeState, takeRoomElsewhere } from '../../fleet/index.ts';
import {
  type Context,
  fail,
  newId,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { evacuationBegan, evacuationStopped, nodeRestored } from '../events.ts';
import { findMachine } from '../machine.ts';
import { lockVps } from '../queries.ts';
import { goOn } from './next.ts';
import {
  type EvacuationRow,
  endEvacuation,
  insertEvacuation,
  insertMoves,
  latestEvacuation,
  type MoveRow,
  machinesOnNode,
  machinesTakenAway,
  movesOf,
  stayAll,
} from './rows.ts';

interface NodeRow {
  id: number;
  name: string;
  cluster_id: number | null;
  answers: boolean;
}

const lockNode = statement<NodeRow, { id: number }>(
  'vps.lockEvacuatedNode',
  `select id, name, cluster_id, reachable and left_at is null as answers from nodes where id = :id for no key update`,
);
const nodeKnown = statement<{ id: number }, { id: number }>(
  'vps.nodeOfEvacuation',
  'select id from nodes where id = :id',
);

/**
 * Has all machines of a cluster's node go to other members with room, a few at a time, and the node take no new ones. They go live where the
 * engine can; `cold`: else with their power off for as long as it takes. `not_found`; `conflict` for a host of our own, one that does not
 * answer, and while machines of the node move already.
 */
export async function evacuateNode(ctx: Context, id: number, { cold = false }: { cold?: boolean }) {
  return transaction(ctx, 'vps.evacuateNode', async (tx) => {
    const node = await requireMember(tx, id);
    if (!node.answers)
      throw fail('conflict', { message: `${node.name} does not answer, so its machines cannot move` });
    await setNodeState(tx, id, 'draining');
    const placed = await listPlacedAt(tx, id);
    const made = await tx.db.many(machinesOnNode, { nodeId: id, placed });
    const madeIds = new Set(made.map((each) => each.service_id));
    for (const serviceId of placed) if (!madeIds.has(serviceId)) await placeOrderElsewhere(tx, serviceId);
    // Again: one that begins to be made meanwhile keeps its room, and moves like all others.
    const machines = await tx.db.many(machinesOnNode, { nodeId: id, placed });
    await record(tx, evacuationBegan, {
      ...{ subject: { type: 'node', id }, organizationId: null },
      data: { name: node.name, cold, machines: machines.length },
    });
    await begin(tx, id, 'evacuate', cold, machines);
    return readEvacuation(tx, id);
  });
}

/** What is ordered and not made yet goes at once; where no other node has room, it keeps what it holds. */
async function placeOrderElsewhere(tx: TxContext, serviceId: number): Promise<void> {
  await lockVps(tx, serviceId);
  if ((await findMachine(tx, serviceId)) === null) await takeRoomElsewhere(tx, serviceId, null);
}

/**
 * Has a node take machines again. `bring_back`: those that were taken away since they were brought back last come back, as far as it has
 * room for them. `not_found`, `conflict` as for an evacuation.
 */
export async function restoreNode(
  ctx: Context,
  id: number,
  { bring_back: bringsBack = false, cold = false }: { bring_back?: boolean; cold?: boolean },
) {
  return transaction(ctx, 'vps.restoreNode', async (tx) => {
    const node = await requireMember(tx, id);
    await setNodeState(tx, id, 'active');
    const machines = bringsBack ? await tx.db.many(machinesTakenAway, { nodeId: id }) : [];
    await record(tx, nodeRestored, {
      ...{ subject: { type: 'node', id }, organizationId: null },
      data: { name: node.name, machines: machines.length },
    });
    if (bringsBack) await begin(tx, id, 'restore', cold, machines);
    return readEvacuation(tx, id);
  });
}

/** Has no more machines move: what waits stays, what is under way comes to its end. The node stays as it is. `not_found`, `conflict` when none move. */
export async function stopEvacuation(ctx: Context, id: number) {
  return transaction(ctx, 'vps.stopEvacuation', async (tx) => {
    const node = await requireRow(tx, lockNode, { id });
    const evacuation = await tx.db.maybe(latestEvacuation, { nodeId: id });
    if (evacuation?.state !== 'running')
      throw fail('conflict', { message: `No machines of ${node.name} are moving` });
    const now = tx.clock.now();
    await tx.db.run(endEvacuation, { id: evacuation.id, state: 'stopped', now });
    await tx.db.run(stayAll, {
      evacuationId: evacuation.id,
      reason: 'Staff stopped it before its turn',
      now,
    });
    await record(tx, evacuationStopped, {
      ...{ subject: { type: 'node', id }, organizationId: null },
      data: { name: node.name },
    });
    return readEvacuation(tx, id);
  });
}

/** Nobody begins or stops an evacuation of the node until the transaction ends. */
export async function lockEvacuatedNode(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lockNode, { id });
}

/** The last evacuation of a node, or what brought its machines back, with what became of each; null where there was none. `not_found`. */
export async function readEvacuation(ctx: Context, id: number) {
  await requireRow(ctx, nodeKnown, { id });
  const row = await ctx.db.maybe(latestEvacuation, { nodeId: id });
  if (row === null) return { evacuation: null };
  const moves = await ctx.db.many(movesOf, { evacuationId: row.id });
  return { evacuation: view(row, moves) };
}

async function requireMember(tx: TxContext, id: number): Promise<NodeRow> {
  const node = await requireRow(tx, lockNode, { id });
  if (node.cluster_id === null)
    throw fail('conflict', {
      message: `${node.name} is a host of our own, whose machines stay on it; members of clusters are evacuated`,
    });
  if ((await tx.db.maybe(latestEvacuation, { nodeId: id }))?.state === 'running')
    throw fail('conflict', { message: `Machines of ${node.name} are moving already; stop that first` });
  return node;
}

async function begin(
  tx: TxContext,
  nodeId: number,
  kind: EvacuationRow['kind'],
  cold: boolean,
  machines: readonly { service_id: number; organization_id: number }[],
): Promise<void> {
  const { id } = await tx.db.one(insertEvacuation, { nodeId, kind, cold, now: tx.clock.now() });
  await tx.db.run(insertMoves, {
    evacuationId: id,
    ids: machines.map(() => newId()),
    serviceIds: machines.map((machine) => machine.service_id),
    organizationIds: machines.map((machine) => machine.organization_id),
  });
  await goOn(tx, id);
}

function view(
  { node_id, kind, cold, state, started_at, ended_at }: EvacuationRow,
  moves: readonly MoveRow[],
) {
  const count = (wanted: string) => moves.filter((move) => move.state === wanted).length;
  return {
    ...{ node_id, kind, cold, state, started_at, ended_at },
    ...{ waiting: count('waiting'), moving: count('moving'), moved: count('moved'), stay: count('stays') },
    machines: [...moves],
  };
}
