import { type Context, statement, type TxContext, transaction } from '../platform/index.ts';

/*
 * A machine that goes to another node has its room there from the moment that this is decided. What its node goes on having of it (a disk, and cores
 * and memory for as long as it runs) is held there as well until it is gone from it, so that nobody is promised what is not free.
 */

const leave = statement<never, { serviceId: number; nodeId: number; machine: string; now: Date }>(
  'fleet.leaveRoom',
  `with kept as (insert into left_rooms (node_id, machine, service_id, cpu_cores, memory_mib, disk_gib, created_at)
     select :nodeId, :machine, service_id, cpu_cores, memory_mib, disk_gib + copies_gib, :now from placements where service_id = :serviceId
     on conflict (node_id, machine) do nothing returning node_id, cpu_cores, memory_mib, disk_gib)
   update nodes n set cpu_cores_taken = cpu_cores_taken + kept.cpu_cores, memory_mib_taken = memory_mib_taken + kept.memory_mib,
     disk_gib_taken = disk_gib_taken + kept.disk_gib
   from kept where n.id = kept.node_id`,
);
const endAll = statement<never, { machine: string; nodeId: number | null }>(
  'fleet.endLeftRooms',
  `with gone as (delete from left_rooms where machine = :machine and (:nodeId::bigint is null or node_id = :nodeId::bigint)
     returning node_id, cpu_cores, memory_mib, disk_gib)
   update nodes n set cpu_cores_taken = cpu_cores_taken - gone.cpu_cores, memory_mib_taken = memory_mib_taken - gone.memory_mib,
     disk_gib_taken = disk_gib_taken - gone.disk_gib
   from gone where n.id = gone.node_id`,
);
const switchOff = statement<never, { machine: string; nodeId: number }>(
  'fleet.switchLeftRoomOff',
  `with was as (select cpu_cores, memory_mib from left_rooms where node_id = :nodeId and machine = :machine for update),
   off as (update left_rooms set cpu_cores = 0, memory_mib = 0 where node_id = :nodeId and machine = :machine)
   update nodes n set cpu_cores_taken = cpu_cores_taken - was.cpu_cores, memory_mib_taken = memory_mib_taken - was.memory_mib
   from was where n.id = :nodeId`,
);
const lockNodesOf = statement<never, { machine: string }>(
  'fleet.lockNodesOfLeftRooms',
  `select id from nodes where id in (select node_id from left_rooms where machine = :machine) order by id for no key update`,
);
const lockNode = statement<never, { nodeId: number }>(
  'fleet.lockNodeOfLeftRoom',
  'select id from nodes where id = :nodeId for no key update',
);
// A node that does not answer has what it had.
const leftAt = statement<{ machine: string; may_run: boolean }, { nodeId: number }>(
  'fleet.leftAt',
  `select l.machine, l.cpu_cores > 0 or l.memory_mib > 0 as may_run from left_rooms l join nodes n on n.id = l.node_id
   where l.node_id = :nodeId and n.reachable and n.left_at is null`,
);

/** Has a node go on holding what a service holds, for what it has of its machine. Its row is locked. */
export async function leaveRoom(
  tx: TxContext,
  of: { serviceId: number; nodeId: number; machine: string },
): Promise<void> {
  await tx.db.run(leave, { ...of, now: tx.clock.now() });
}

/** Gives back what is held for what nodes have of a machine: it is gone from there, or has its room there again. `nodeId`: of this one alone. */
export async function endLeftRooms(
  tx: TxContext,
  machine: string,
  nodeId: number | null = null,
): Promise<void> {
  await tx.db.many(lockNodesOf, { machine });
  await tx.db.run(endAll, { machine, nodeId });
}

/** Gives back the cores and the memory of what a node has of a machine: it never runs there again. */
export async function switchLeftRoomOff(tx: TxContext, machine: string, nodeId: number): Promise<void> {
  await tx.db.many(lockNode, { nodeId });
  await tx.db.run(switchOff, { machine, nodeId });
}

/** Gives back what a node does not have any more. `there`: the machines that it reports; `off`: those of them that nothing of ours starts. */
export async function compareLeftRooms(
  ctx: Context,
  nodeId: number,
  there: ReadonlySet<string>,
  off: ReadonlySet<string>,
): Promise<void> {
  for (const { machine, may_run: mayRun } of await ctx.db.many(leftAt, { nodeId })) {
    const isThere = there.has(machine);
    if (isThere && !(mayRun && off.has(machine))) continue;
    await transaction(ctx, 'fleet.compareLeftRoom', (tx) =>
      isThere ? switchLeftRoomOff(tx, machine, nodeId) : endLeftRooms(tx, machine, nodeId),
    );
  }
}
