import type { Static } from 'typebox';
import { record } from '../../events/index.ts';
import { type Destination, listPlacedAt, setNodeState, takeRoomElsewhere } from '../../fleet/index.ts';
import {
  type Context,
  fail,
  newId,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { evacuationBegan, evacuationStopped, moveEnded, movePlanned, nodeRestored } from '../events.ts';
import { findMachine } from '../machine.ts';
import { lockVps } from '../queries.ts';
import {
  copiesLost,
  type Departing,
  departingFrom,
  ofCopies,
  ownHost,
  reasonAgainst,
  requireDestination,
  whyNot,
} from './departing.ts';
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
  unhaltEvacuation,
} from './rows.ts';
import type { Evacuate } from './schema.ts';

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
 * engine can; `cold`: else with their power off for as long as it takes. With `cluster_id` those of a host of our own go into that cluster.
 * `not_found`; `conflict` for a host of our own without, one that does not answer, and while machines of the node move already.
 */
export async function evacuateNode(ctx: Context, id: number, body: Static<typeof Evacuate>) {
  const { cold = false, cluster_id: clusterId, begins_at: beginsAt } = body;
  if (clusterId !== undefined) return departFrom(ctx, id, { ...body, cluster_id: clusterId });
  for (const field of ['service_ids', 'drop_copies'] as const)
    if (body[field] !== undefined) throw invalid(field, 'goes with cluster_id alone');
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
      data: { name: node.name, cold, machines: machines.length, cluster: null },
    });
    const began = { kind: 'evacuate', cold, clusterId: null, dropsCopies: false } as const;
    await begin(tx, id, { ...began, beginsAt: momentOf(tx, beginsAt) }, machines);
    return readEvacuation(tx, id);
  });
}

/**
 * Has machines of a host of our own go into a cluster, a few at a time, each with its power off for as long as it takes. Without `service_ids`
 * all of them, and the host takes no new ones. `invalid_request` where there is no such cluster; `conflict` for a member of a cluster, a host
 * or a cluster that does not answer, one in another location, while machines of the host move already, and for machines that cannot go, in words.
 */
async function departFrom(ctx: Context, id: number, body: Static<typeof Evacuate> & { cluster_id: number }) {
  const { cold = false, cluster_id: clusterId, service_ids: only, drop_copies: drops = false } = body;
  return transaction(ctx, 'vps.departFrom', async (tx) => {
    const node = await requireRow(tx, lockNode, { id });
    const to = await requireDestination(tx, clusterId);
    const reason = whyNot(await requireRow(tx, ownHost, { id }), to);
    if (reason !== null) throw fail('conflict', { message: reason });
    const standing = await tx.db.maybe(latestEvacuation, { nodeId: id });
    if (standing?.state === 'running' && standing.halted_for !== null && standing.cluster_id === clusterId)
      return goOnWithStanding(tx, node, to, standing);
    await requireNoneMoving(tx, node);
    if (only === undefined) await setNodeState(tx, id, 'draining');
    const machines = chosen(node, to, await tx.db.many(departingFrom, { nodeId: id }), { only, drops });
    await record(tx, evacuationBegan, {
      ...{ subject: { type: 'node', id }, organizationId: null },
      data: { name: node.name, cold, machines: machines.length, cluster: to.name },
    });
    const beginsAt = momentOf(tx, body.begins_at);
    const told = machines.filter((each) => {
      if (goes(each, to, drops) !== null) return false;
      return each.state === 'running' ? cold : ofCopies(copiesLost(each, to)) !== null;
    });
    for (const machine of told) await tell(tx, machine, to, beginsAt);
    const began = { kind: 'evacuate', cold, clusterId, dropsCopies: drops, beginsAt } as const;
    await begin(tx, id, began, machines, new Set(told.map((each) => each.service_id)));
    return readEvacuation(tx, id);
  });
}

/** One that stands goes on as it began: whatever else is said now is of no consequence. */
async function goOnWithStanding(tx: TxContext, node: NodeRow, to: Destination, standing: EvacuationRow) {
  const waiting = (await tx.db.many(movesOf, { evacuationId: standing.id })).filter(
    ({ state }) => state === 'waiting',
  );
  await record(tx, evacuationBegan, {
    ...{ subject: { type: 'node', id: node.id }, organizationId: null },
    data: { name: node.name, cold: standing.cold, machines: waiting.length, cluster: to.name },
  });
  await tx.db.run(unhaltEvacuation, { id: standing.id });
  await goOn(tx, standing.id);
  return readEvacuation(tx, node.id);
}

function goes(machine: Departing, to: Destination, drops: boolean): string | null {
  return reasonAgainst(machine, to) ?? (drops ? null : ofCopies(copiesLost(machine, to)));
}

function chosen(
  node: NodeRow,
  to: Destination,
  machines: readonly Departing[],
  { only, drops }: { only: number[] | undefined; drops: boolean },
): readonly Departing[] {
  if (only === undefined) return machines;
  const problems = only.flatMap((id) => {
    const found = machines.find((each) => each.service_id === id);
    const reason = found === undefined ? `It is not on ${node.name}` : goes(found, to, drops);
    return reason === null ? [] : [`${id}: ${reason}`];
  });
  if (problems.length > 0) throw fail('conflict', { message: problems.join('; ') });
  return machines.filter((each) => only.includes(each.service_id));
}

/** Before it is off, or loses copies: its customer can make ready for that. */
async function tell(
  tx: TxContext,
  machine: Departing,
  to: Destination,
  beginsAt: Date | null,
): Promise<void> {
  const { snapshots, backups } = copiesLost(machine, to);
  const { service_id: id, organization_id: organizationId, user_id, hostname } = machine;
  await record(tx, movePlanned, {
    ...{ subject: { type: 'service', id }, organizationId },
    data: {
      ...{ user_id, hostname, begins_at: beginsAt?.toISOString() ?? null },
      ...{ is_off: machine.state !== 'running', lost_snapshots: snapshots, lost_backups: backups },
    },
  });
}

const latestDays = 90;

/** Null: at once. */
function momentOf(ctx: Context, at: string | Date | undefined): Date | null {
  if (at === undefined) return null;
  const moment = new Date(at);
  const inMs = moment.getTime() - ctx.clock.now().getTime();
  if (inMs > latestDays * 86_400_000) throw invalid('begins_at', `must be within ${latestDays} days`);
  return inMs > 0 ? moment : null;
}

function invalid(field: string, message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
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
    const began = { kind: 'restore', cold, clusterId: null, dropsCopies: false, beginsAt: null } as const;
    if (bringsBack) await begin(tx, id, began, machines);
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
    const reason = 'Staff stopped it before its turn';
    const stay = await tx.db.many(stayAll, { evacuationId: evacuation.id, reason, now });
    for (const { service_id, organization_id: organizationId, user_id, hostname, was_told } of stay) {
      if (!was_told) continue;
      await record(tx, moveEnded, {
        ...{ subject: { type: 'service', id: service_id }, organizationId },
        data: { user_id, hostname, moved: false, off_at: null, away_s: null, is_late: false },
      });
    }
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
      message: `${node.name} is a host of our own, whose machines go into a cluster alone: say with cluster_id into which. What has gone there does not come back`,
    });
  await requireNoneMoving(tx, node);
  return node;
}

async function requireNoneMoving(tx: TxContext, { id: nodeId, name }: NodeRow): Promise<void> {
  if ((await tx.db.maybe(latestEvacuation, { nodeId }))?.state === 'running')
    throw fail('conflict', { message: `Machines of ${name} are moving already; stop that first` });
}

async function begin(
  tx: TxContext,
  nodeId: number,
  how: {
    kind: EvacuationRow['kind'];
    cold: boolean;
    clusterId: number | null;
    dropsCopies: boolean;
    beginsAt: Date | null;
  },
  machines: readonly { service_id: number; organization_id: number }[],
  told: ReadonlySet<number> = new Set(),
): Promise<void> {
  const { id } = await tx.db.one(insertEvacuation, { nodeId, ...how, now: tx.clock.now() });
  await tx.db.run(insertMoves, {
    evacuationId: id,
    ids: machines.map(() => newId()),
    serviceIds: machines.map((machine) => machine.service_id),
    organizationIds: machines.map((machine) => machine.organization_id),
    told: machines.map((machine) => told.has(machine.service_id)),
  });
  await goOn(tx, id);
}

function view(
  { node_id, kind, cold, cluster_id, begins_at, state, halted_for, started_at, ended_at }: EvacuationRow,
  moves: readonly MoveRow[],
) {
  const count = (wanted: string) => moves.filter((move) => move.state === wanted).length;
  return {
    ...{ node_id, kind, cold, cluster_id, begins_at, state, halted_for, started_at, ended_at },
    ...{ waiting: count('waiting'), moving: count('moving'), moved: count('moved'), stay: count('stays') },
    machines: [...moves],
  };
}
