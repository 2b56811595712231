import { statement, type TxContext } from '../platform/index.ts';
import { endLeftRooms, leaveRoom } from './leftRooms.ts';

const heldBy = statement<{ node_id: number }, { serviceId: number }>(
  'fleet.lockMovedPlacement',
  'select node_id from placements where service_id = :serviceId for update',
);
const lockBoth = statement<{ id: number }, { from: number; to: number }>(
  'fleet.lockNodesOfMove',
  'select id from nodes where id in (:from, :to) order by id for no key update',
);
const carryOver = statement<never, { serviceId: number; from: number; to: number }>(
  'fleet.carryRoomOver',
  `with sign as (select :from::bigint as id, -1 as of union all select :to::bigint, 1)
   update nodes n set cpu_cores_taken = cpu_cores_taken + sign.of * p.cpu_cores,
     memory_mib_taken = memory_mib_taken + sign.of * p.memory_mib,
     disk_gib_taken = disk_gib_taken + sign.of * (p.disk_gib + p.copies_gib),
     copies_gib = n.copies_gib + sign.of * p.copies_gib
   from placements p, sign where p.service_id = :serviceId and n.id = sign.id`,
);
const placeAt = statement<never, { serviceId: number; to: number }>(
  'fleet.placeAt',
  'update placements set node_id = :to where service_id = :serviceId',
);
const isOver = statement<{ is_over: boolean }, { id: number }>(
  'fleet.isOverrun',
  `select cpu_cores_taken > cpu_cores_promised or memory_mib_taken > memory_mib_promised
     or disk_gib_taken > disk_gib_promised as is_over from nodes where id = :id`,
);

/**
 * Has the room that a service holds, that of its copies with it, be held on another node from now on. A machine that is there takes it whatever
 * the node may promise, so nothing is refused; `isOverrun`: the node has more by now than it may promise. A service that holds none has none.
 * `of`: the machine that has its room there, for which nothing else is held there then; `leaves`: what the node before has, for which it goes on
 * holding as much.
 */
export async function moveRoom(
  tx: TxContext,
  serviceId: number,
  to: number,
  { of = null, leaves = null }: { of?: string | null; leaves?: string | null } = {},
): Promise<{ isOverrun: boolean }> {
  const held = await tx.db.maybe(heldBy, { serviceId });
  if (held !== null && held.node_id !== to) {
    await tx.db.many(lockBoth, { from: held.node_id, to });
    await tx.db.run(carryOver, { serviceId, from: held.node_id, to });
    await tx.db.run(placeAt, { serviceId, to });
    if (leaves !== null) await leaveRoom(tx, { serviceId, nodeId: held.node_id, machine: leaves });
  }
  if (of !== null) await endLeftRooms(tx, of, to);
  const { is_over: isOverrun } = await tx.db.one(isOver, { id: to });
  return { isOverrun };
}
