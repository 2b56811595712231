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

/** A machine that is to have its room somewhere in a location. */
export interface WantedResources {
  id: number;
  location: string;
  /** Slug of the operating system that it is made with. */
  image: string;
  resources: Resources;
}

/** Nodes of a location that one order looks at. */
const nodesAtMost = 10_000;

interface FreeNode {
  id: number;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
  /** The operating systems that its cluster has; null of a host of our own, which makes what it lacks. */
  images: string[] | null;
}

/** In SQL, of `nodes n`: what its cluster has, where it is a member of one. */
export const imagesAtNode = `case when n.cluster_id is not null then coalesce((select jsonb_agg(i.slug) from cluster_images i
  where i.cluster_id = n.cluster_id and i.state = 'ready'), '[]') end`;

/** In SQL, of `nodes n`: whether it takes new machines, with one of some operating systems where it is a member of a cluster. */
export function takesMachines(images: string): string {
  return `n.runs_machines and n.state = 'active' and n.reachable and n.trouble is null
    and (n.cluster_id is null or exists (select 1 from clusters c join cluster_images i on i.cluster_id = c.id
      where c.id = n.cluster_id and c.state = 'active' and i.state = 'ready' and i.slug = any(${images}::text[])))`;
}

/**
 * Nodes of a location with what is free on them, their rows locked: as many as machines are to be placed, those with the most
 * memory first. Nodes whose row another order holds at the moment are passed over (`skip locked`), so orders wait
 * for each other only when what is left does not do; then in the order of ids, so that none waits in a circle.
 */
const freeNodes = (name: string, order: string) =>
  statement<
    FreeNode,
    {
      location: string;
      images: string[];
      most: number;
      cpuCores: number;
      memoryMib: number;
      diskGib: number;
    }
  >(
    name,
    `select id, cpu_cores_promised - cpu_cores_taken as cpu_cores,
       memory_mib_left as memory_mib, disk_gib_left as disk_gib,
       ${imagesAtNode} as images
     from nodes n
     where location = :location and ${takesMachines(':images')}
       and cpu_cores_promised - cpu_cores_taken >= :cpuCores
       and memory_mib_left >= :memoryMib
       and disk_gib_left >= :diskGib
     order by ${order}`,
  );
const nodesAtHand = freeNodes(
  'fleet.nodesAtHand',
  'memory_mib_left desc, id limit :most for no key update skip locked',
);
const nodesWaiting = freeNodes('fleet.nodesWaiting', 'id limit :most for no key update');

const takeRooms = statement<never, { organizationId: number; now: Date; placements: string }>(
  'fleet.takeRooms',
  `with wanted as (select * from jsonb_to_recordset(:placements::jsonb)
     as w(service_id bigint, node_id bigint, cpu_cores int, memory_mib int, disk_gib int)),
   taken as (
     update nodes n set cpu_cores_taken = cpu_cores_taken + sums.cpu_cores,
       memory_mib_taken = memory_mib_taken + sums.memory_mib, disk_gib_taken = disk_gib_taken + sums.disk_gib
     from (select node_id, sum(cpu_cores) as cpu_cores, sum(memory_mib) as memory_mib, sum(disk_gib) as disk_gib
       from wanted group by node_id) sums where n.id = sums.node_id)
   insert into placements (service_id, organization_id, node_id, cpu_cores, memory_mib, disk_gib, created_at)
   select service_id, :organizationId, node_id, cpu_cores, memory_mib, disk_gib, :now from wanted`,
);

const placementOf = statement<PlacementRow, { serviceId: number }>(
  'fleet.placementOf',
  'select node_id, cpu_cores, memory_mib, disk_gib from placements where service_id = :serviceId',
);

const placedAt = statement<{ service_id: number }, { nodeId: number }>(
  'fleet.placedAt',
  'select service_id from placements where node_id = :nodeId order by service_id',
);

const giveRoomBack = statement<{ node_id: number }, { serviceId: number }>(
  'fleet.giveRoomBack',
  `with gone as (delete from placements where service_id = :serviceId
     returning node_id, cpu_cores, memory_mib, disk_gib, copies_gib)
   update nodes n set cpu_cores_taken = cpu_cores_taken - gone.cpu_cores,
     memory_mib_taken = memory_mib_taken - gone.memory_mib,
     disk_gib_taken = disk_gib_taken - gone.disk_gib - gone.copies_gib, copies_gib = n.copies_gib - gone.copies_gib
   from gone where n.id = gone.node_id returning gone.node_id`,
);

// What shrinks is given back whatever the node promises; what grows must fit, unless the node is down or in trouble.
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
       and ((n.state <> 'down' and n.trouble is null) or (held.cpu <= 0 and held.memory <= 0 and held.disk <= 0))
       and (held.cpu <= 0 or cpu_cores_promised - cpu_cores_taken >= held.cpu)
       and (held.memory <= 0 or memory_mib_left >= held.memory)
       and (held.disk <= 0 or disk_gib_left >= held.disk)
     returning n.id)
   update placements p set cpu_cores = :cpuCores, memory_mib = :memoryMib, disk_gib = :diskGib
   from resized where p.service_id = :serviceId returning p.node_id`,
);

/** Holds room for services on nodes of their locations, until it is given back; `insufficient_stock`. */
export async function reserveResources(
  ctx: TxContext,
  organizationId: number,
  services: WantedResources[],
): Promise<void> {
  const placements: object[] = [];
  for (const location of [...new Set(services.map((service) => service.location))].sort()) {
    const there = services.filter((service) => service.location === location);
    placements.push(...(await placeAll(ctx, location, there)));
  }
  await ctx.db.run(takeRooms, {
    organizationId,
    now: ctx.clock.now(),
    placements: JSON.stringify(placements),
  });
}

async function placeAll(ctx: TxContext, location: string, machines: WantedResources[]): Promise<object[]> {
  const least = (part: (resources: Resources) => number) =>
    Math.min(...machines.map(({ resources }) => part(resources)));
  const wanted = {
    location,
    images: [...new Set(machines.map(({ image }) => image))],
    most: machines.length,
    cpuCores: least((resources) => resources.cpuCores),
    memoryMib: least((resources) => resources.memoryMib),
    diskGib: least((resources) => resources.diskGib),
  };
  const placements =
    placeOn(await ctx.db.many(nodesAtHand, wanted), machines) ??
    placeOn(await ctx.db.many(nodesWaiting, { ...wanted, most: nodesAtMost }), machines);
  if (placements !== null) return placements;
  throw fail('insufficient_stock', { cause: new Error(`no nodes of ${location} have room`) });
}

/** A place for each machine, where the most memory is free; null when not all of them fit. */
function placeOn(nodes: FreeNode[], machines: WantedResources[]): object[] | null {
  const placements: object[] = [];
  for (const { id, image, resources } of machines) {
    const node = chooseNode(nodes, image, resources);
    if (node === null) return null;
    placements.push({
      service_id: id,
      node_id: node.id,
      cpu_cores: resources.cpuCores,
      memory_mib: resources.memoryMib,
      disk_gib: resources.diskGib,
    });
  }
  return placements;
}

/** The node a machine of this size and operating system goes to, with the room taken off what is free there; null when it fits nowhere. */
export function chooseNode<Node extends FreeNode>(
  nodes: Node[],
  image: string,
  resources: Resources,
): Node | null {
  const [chosen] = nodes
    .filter(
      (node) =>
        (node.images === null || node.images.includes(image)) &&
        node.cpu_cores >= resources.cpuCores &&
        node.memory_mib >= resources.memoryMib &&
        node.disk_gib >= resources.diskGib,
    )
    .sort((one, other) => other.memory_mib - one.memory_mib || one.id - other.id);
  if (chosen === undefined) return null;
  chosen.cpu_cores -= resources.cpuCores;
  chosen.memory_mib -= resources.memoryMib;
  chosen.disk_gib -= resources.diskGib;
  return chosen;
}

/** Where a service has its room; null when it has none. */
export async function findPlacement(ctx: Context, serviceId: number): Promise<Placement | null> {
  const row = await ctx.db.maybe(placementOf, { serviceId });
  if (row === null) return null;
  return { nodeId: row.node_id, cpuCores: row.cpu_cores, memoryMib: row.memory_mib, diskGib: row.disk_gib };
}

/** The services that have their room on a node, of orders that are not made yet as well. */
export async function listPlacedAt(ctx: Context, nodeId: number): Promise<number[]> {
  return (await ctx.db.many(placedAt, { nodeId })).map((row) => row.service_id);
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
