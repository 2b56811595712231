import { type Context, fail, statement, type TxContext } from '../platform/index.ts';

/** Room that one machine takes on a node. */
export interface Resources {
  cpuCores: number;
  memoryMib: number;
  diskGib: number;
}

export interface Placement extends Resources {
  nodeId: number;
}

interface PlacementRow {
  node_id: number;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
}

interface Taking extends Resources {
  serviceId: number;
  organizationId: number;
  location: string;
  now: Date;
}

/**
 * Takes the room and remembers who has it, in one statement. Nodes whose row another order holds at the
 * moment are passed over first (`skip locked`), so orders wait for each other only when a single node is left.
 */
const takeRoom = (name: string, locking: string) =>
  statement<{ node_id: number }, Taking>(
    name,
    `with chosen as (
       select id from nodes
       where location = :location and state = 'active' and reachable
         and cpu_cores_promised - cpu_cores_taken >= :cpuCores
         and memory_mib_promised - memory_mib_taken >= :memoryMib
           and disk_gib_promised - disk_gib_taken >= :diskGib
       order by memory_mib_promised - memory_mib_taken desc, id limit 1 for no key update ${locking}),
     taken as (
       update nodes n set cpu_cores_taken = cpu_cores_taken + :cpuCores,
         memory_mib_taken = memory_mib_taken + :memoryMib,
         disk_gib_taken = disk_gib_taken + :diskGib
       from chosen where n.id = chosen.id returning n.id)
     insert into placements (service_id, organization_id, node_id, cpu_cores, memory_mib, disk_gib, created_at)
     select :serviceId, :organizationId, id, :cpuCores, :memoryMib, :diskGib, :now from taken
       returning node_id`,
  );
const takeRoomAnywhere = takeRoom('fleet.takeRoomAnywhere', 'skip locked');
const takeRoomWaiting = takeRoom('fleet.takeRoomWaiting', '');

const placementOf = statement<PlacementRow, { serviceId: number }>(
  'fleet.placementOf',
  'select node_id, cpu_cores, memory_mib, disk_gib from placements where service_id = :serviceId',
);

const giveRoomBack = statement<{ node_id: number }, { serviceId: number }>(
  'fleet.giveRoomBack',
  `with gone as (delete from placements where service_id = :serviceId
     returning node_id, cpu_cores, memory_mib, disk_gib)
   update nodes n set cpu_cores_taken = cpu_cores_taken - gone.cpu_cores,
     memory_mib_taken = memory_mib_taken - gone.memory_mib, disk_gib_taken = disk_gib_taken - gone.disk_gib
   from gone where n.id = gone.node_id returning gone.node_id`,
);

// What shrinks is given back whatever the node promises; what grows must fit, unless the node is down.
const resize = statement<
  { node_id: number },
  { serviceId: number; cpuCores: number; memoryMib: number; diskGib: number }
>(
  'fleet.resizeResources',
  `with held as (
     select node_id, :cpuCores::int - cpu_cores as cpu, :memoryMib::int - memory_mib as memory,
       :diskGib::int - disk_gib as disk
     from placements where service_id = :serviceId for update),
   resized as (
     update nodes n set cpu_cores_taken = cpu_cores_taken + held.cpu,
       memory_mib_taken = memory_mib_taken + held.memory, disk_gib_taken = disk_gib_taken + held.disk
     from held where n.id = held.node_id
       and (n.state <> 'down' or (held.cpu <= 0 and held.memory <= 0 and held.disk <= 0))
       and (held.cpu <= 0 or cpu_cores_promised - cpu_cores_taken >= held.cpu)
       and (held.memory <= 0 or memory_mib_promised - memory_mib_taken >= held.memory)
       and (held.disk <= 0 or disk_gib_promised - disk_gib_taken >= held.disk)
     returning n.id)
   update placements p set cpu_cores = :cpuCores, memory_mib = :memoryMib, disk_gib = :diskGib
   from resized where p.service_id = :serviceId returning p.node_id`,
);

/** Holds room for a service on a node of the location; the room stays held until it is given back. */
export async function reserveResources(
  ctx: TxContext,
  service: { id: number; organizationId: number; location: string },
  resources: Resources,
): Promise<Placement> {
  const { id: serviceId, organizationId, location } = service;
  const taking = { serviceId, organizationId, location, ...resources, now: ctx.clock.now() };
  const row = (await ctx.db.maybe(takeRoomAnywhere, taking)) ?? (await ctx.db.maybe(takeRoomWaiting, taking));
  if (row === null)
    throw fail('insufficient_stock', { cause: new Error(`no node of ${service.location} has room`) });
  return { nodeId: row.node_id, ...resources };
}

/** Where a service has its room; null when it has none. */
export async function findPlacement(ctx: Context, serviceId: number): Promise<Placement | null> {
  const row = await ctx.db.maybe(placementOf, { serviceId });
  if (row === null) return null;
  return { nodeId: row.node_id, cpuCores: row.cpu_cores, memoryMib: row.memory_mib, diskGib: row.disk_gib };
}

/** Gives the room back; giving back nothing is fine. */
export async function releaseResources(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.many(giveRoomBack, { serviceId });
}

/**
 * Changes the room that a service has on its node, exactly to `room`; repeating it changes nothing. Growing
 * needs free room on that same node: `insufficient_stock` when there is none, or when the service has no room.
 */
export async function resizeResources(
  ctx: TxContext,
  serviceId: number,
  resources: Resources,
): Promise<void> {
  const row = await ctx.db.maybe(resize, {
    serviceId,
    cpuCores: resources.cpuCores,
    memoryMib: resources.memoryMib,
    diskGib: resources.diskGib,
  });
  if (row !== null) return;
  throw fail('insufficient_stock', { cause: new Error(`the node of service ${serviceId} has no room`) });
}
