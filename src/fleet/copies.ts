import { readOwners } from '../organizations/index.ts';
import { fail, statement, type TxContext } from '../platform/index.ts';

/**
 * The copies of one owner's organizations may hold so much of what a node promises of its disk: others shall have room
 * there, too, and an account may have many organizations.
 */
const shareOfNode = 0.5;

interface Held {
  node_id: number;
  organization_id: number;
  copies_gib: number;
}

interface Room {
  disk_gib_promised: number;
  free_gib: number;
  theirs_gib: number;
}

const lockPlacement = statement<Held, { serviceId: number }>(
  'fleet.lockPlacement',
  'select node_id, organization_id, copies_gib from placements where service_id = :serviceId for update',
);
// The node's row first, and then a snapshot of its own for the sum: of two machines' copies one is counted first.
const lockNode = statement<never, { nodeId: number }>(
  'fleet.lockNodeOfCopies',
  'select id from nodes where id = :nodeId for no key update',
);
const roomOnNode = statement<Room, { nodeId: number; organizationIds: number[] }>(
  'fleet.roomForCopies',
  `select disk_gib_promised, disk_gib_left as free_gib,
     (select coalesce(sum(p.copies_gib), 0)::int from placements p
      where p.node_id = n.id and p.organization_id = any(:organizationIds::bigint[])) as theirs_gib
   from nodes n where id = :nodeId`,
);
const holdCopies = statement<never, { serviceId: number; nodeId: number; gib: number; more: number }>(
  'fleet.holdCopies',
  `with held as (update placements set copies_gib = :gib where service_id = :serviceId)
   update nodes set copies_gib = copies_gib + :more::int, disk_gib_taken = disk_gib_taken + :more::int
   where id = :nodeId`,
);

/**
 * Holds so much room for the copies of a service on its node, in all; repeating it changes nothing. What grows has to fit
 * there, and into what the copies of one owner's organizations may hold: `no_space`. A service without room on a node holds none.
 */
export async function resizeCopies(ctx: TxContext, serviceId: number, gib: number): Promise<void> {
  const held = await ctx.db.maybe(lockPlacement, { serviceId });
  if (held === null || held.copies_gib === gib) return;
  const { node_id: nodeId, organization_id: organizationId } = held;
  const more = gib - held.copies_gib;
  await ctx.db.one(lockNode, { nodeId });
  if (more > 0) {
    const owned = (await readOwners(ctx, [organizationId])).get(organizationId);
    const organizationIds = [...(owned?.organizationIds ?? [organizationId])];
    requireRoom(await ctx.db.one(roomOnNode, { nodeId, organizationIds }), more);
  }
  await ctx.db.run(holdCopies, { serviceId, nodeId, gib, more });
}

function requireRoom(room: Room, more: number): void {
  if (room.free_gib < more) {
    const message = `There is no room for another copy on the node of this machine: it may come to take ${more} GiB. Delete copies that you do not need, or try again later`;
    throw fail('no_space', { message });
  }
  const most = Math.floor(room.disk_gib_promised * shareOfNode);
  if (room.theirs_gib + more <= most) return;
  const message = `The snapshots and backups of your organizations may come to take ${room.theirs_gib} of the ${most} GiB that they may have on the node of this machine, and this one needs ${more} GiB. Delete some that you do not need`;
  throw fail('no_space', { message });
}
