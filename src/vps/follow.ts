import type { Cluster, MachineReport } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import { moveRoom } from '../fleet/index.ts';
import {
  type Context,
  causesOf,
  sendJobsAlong,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { holdsLock } from './actions/lock.ts';
import { vpsMoved } from './events.ts';
import { findMachine, machineIdOf, machineNamed } from './machine.ts';
import { lockVps } from './queries.ts';

/** Members of one cluster as nodes. */
export type Members = readonly { id: number; member: string }[];

// What a lost node has of a machine that was made anew elsewhere is another one, and so is one of the same name on a host of another cluster, or of ours, is another one.
const elsewhere = statement<
  { service_id: number },
  { serviceIds: number[]; incarnations: number[]; nodeIds: number[] }
>(
  'vps.elsewhere',
  `select m.service_id from unnest(:serviceIds::bigint[], :incarnations::int[], :nodeIds::bigint[]) as t (service_id, incarnation, node_id)
   join machines m on m.service_id = t.service_id and m.incarnation = t.incarnation and m.node_id <> t.node_id
   join nodes before on before.id = m.node_id
   join nodes n on n.id = t.node_id and n.cluster_id = before.cluster_id`,
);
const ownMove = statement<{ id: number }, { serviceId: number }>(
  'vps.ownMove',
  `select id from vps_actions a where service_id = :serviceId and command = 'move' and ${holdsLock('a')}`,
);
const setNode = statement<never, { serviceId: number; nodeId: number }>(
  'vps.setNode',
  'update machines set node_id = :nodeId where service_id = :serviceId',
);
const nodeNames = statement<{ name: string; before: string }, { from: number; to: number }>(
  'vps.nodesOfMove',
  'select n.name, before.name as before from nodes before, nodes n where before.id = :from and n.id = :to',
);

/** Follows the machines of a cluster that somebody moved between its members, or the engine by itself. `all`: what it reports of all. */
export async function followMachines(
  ctx: Context,
  nodes: Members,
  cluster: Pick<Cluster, 'on'>,
  all: readonly MachineReport[],
): Promise<void> {
  const ids = new Map(nodes.map(({ id, member }) => [member, id]));
  const seen = all.flatMap(({ id, node = '' }) => {
    const [named, nodeId] = [machineNamed(id), ids.get(node)];
    return named === null || nodeId === undefined ? [] : [{ ...named, nodeId }];
  });
  const moved = await ctx.db.many(elsewhere, {
    serviceIds: seen.map(({ serviceId }) => serviceId),
    incarnations: seen.map(({ incarnation }) => incarnation),
    nodeIds: seen.map(({ nodeId }) => nodeId),
  });
  for (const { service_id: serviceId } of moved)
    await follow(ctx, serviceId, nodes, cluster).catch((error: Error) =>
      ctx.log.warn({ service: serviceId, err: causesOf(error) }, 'a machine could not be followed'),
    );
}

async function follow(
  ctx: Context,
  serviceId: number,
  nodes: Members,
  cluster: Pick<Cluster, 'on'>,
): Promise<void> {
  const [first] = nodes;
  if (first === undefined) return;
  // Asked anew, before anything is held: what all were told of may be from before a move that has ended since, and an engine may say nothing for seconds.
  const before = await findMachine(ctx, serviceId);
  if (before === null) return;
  const { node } = await cluster.on(first.member).inspect(machineIdOf(serviceId, before.incarnation));
  const at = nodes.find(({ member }) => member === node);
  if (at === undefined) return;
  await transaction(ctx, 'vps.follow', async (tx) => {
    await lockVps(tx, serviceId);
    const machine = await findMachine(tx, serviceId);
    // It was written down elsewhere since: the next comparison looks again.
    if (machine === null || machine.incarnation !== before.incarnation || machine.node_id !== before.node_id)
      return;
    if ((await tx.db.maybe(ownMove, { serviceId })) === null)
      return writeNode(tx, serviceId, at.id, 'others');
    // A move of ours writes down by itself where the machine is; it must not wait for a member that may never be back.
    await sendJobsAlong(tx, { about: { serviceId }, from: machine.node_id, to: at.id });
  });
}

/**
 * Writes down that a machine is on another node of its cluster, and has its room and what waits to be done with it go there with it. `by`: whether we moved it or others did, in
 * the engine. The service is locked.
 */
export async function writeNode(
  tx: TxContext,
  serviceId: number,
  nodeId: number,
  by: 'innkeeper' | 'others',
): Promise<void> {
  const machine = await findMachine(tx, serviceId);
  const of = machine === null ? null : machineIdOf(serviceId, machine.incarnation);
  const { isOverrun } = await moveRoom(tx, serviceId, nodeId, { of });
  if (machine === null || machine.node_id === nodeId) return;
  await tx.db.run(setNode, { serviceId, nodeId });
  await sendJobsAlong(tx, { about: { serviceId }, from: machine.node_id, to: nodeId });
  const { name, before } = await tx.db.one(nodeNames, { from: machine.node_id, to: nodeId });
  if (isOverrun) tx.log.warn({ node: name, service: serviceId }, 'a node has more than it may promise');
  await record(tx, vpsMoved, {
    subject: { type: 'service', id: serviceId },
    organizationId: machine.organization_id,
    data: { name, before, by, overrun: isOverrun },
  });
}
