import { statement, type TxContext } from '../platform/index.ts';
import { moveRoom } from './moveRoom.ts';

const roomElsewhere = statement<
  { id: number; member: string; cluster_id: number },
  { serviceId: number; only: number | null; clusterId: number | null }
>(
  'fleet.roomElsewhere',
  `select n.id, n.member, n.cluster_id from placements p join nodes o on o.id = p.node_id
   join nodes n on n.cluster_id = coalesce(:clusterId::bigint, o.cluster_id) and n.id <> o.id
   where p.service_id = :serviceId and (:only::bigint is null or n.id = :only::bigint)
     and n.runs_machines and n.state = 'active' and n.reachable and n.left_at is null and n.trouble is null
     and n.cpu_cores_promised - n.cpu_cores_taken >= p.cpu_cores
     and n.memory_mib_left >= p.memory_mib
     and n.disk_gib_left >= p.disk_gib + p.copies_gib
   order by n.memory_mib_left desc, n.id limit 1 for no key update of n`,
);

export interface OtherNode {
  nodeId: number;
  member: string;
  clusterId: number;
}

/**
 * Finds room for a service on another node of its cluster, that with the most memory free, and holds it there from now on. `only`: on this node
 * or none. `clusterId`: in this cluster instead. `leaves`: what its node goes on having of it, and holding room for. Null: none has room, or another order took it at this moment.
 */
export async function takeRoomElsewhere(
  tx: TxContext,
  serviceId: number,
  only: number | null,
  { clusterId = null, leaves = null }: { clusterId?: number | null; leaves?: string | null } = {},
): Promise<OtherNode | null> {
  const found = await tx.db.maybe(roomElsewhere, { serviceId, only, clusterId });
  if (found === null) return null;
  await moveRoom(tx, serviceId, found.id, { leaves });
  return { nodeId: found.id, member: found.member, clusterId: found.cluster_id };
}
