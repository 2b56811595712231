import type { HypervisorCapability } from '../../drivers/hypervisor/index.ts';
import { type Context, statement } from '../../platform/index.ts';

/** A cluster that machines are to go into, as far as that is written down. */
export interface Destination {
  id: number;
  name: string;
  location: string;
  /** Whether a member that answers takes machines. */
  takes: boolean;
  /** What its engine can. */
  capabilities: HypervisorCapability[];
  /** Operating systems that it has. */
  images: string[];
}

const destination = statement<Destination, { id: number }>(
  'fleet.destination',
  `select c.id, c.name, c.location,
     c.state = 'active' and c.fit_generation > 0 and exists (select 1 from nodes n where n.cluster_id = c.id and n.left_at is null
       and n.reachable and n.runs_machines and n.state = 'active' and n.trouble is null) as takes,
     coalesce((select to_jsonb(n.capabilities) from nodes n where n.cluster_id = c.id and n.left_at is null and n.capabilities is not null
       order by n.reachable desc, n.id limit 1), '[]') as capabilities,
     coalesce((select jsonb_agg(i.slug) from cluster_images i where i.cluster_id = c.id and i.state = 'ready'), '[]') as images
   from clusters c where c.id = :id`,
);

/** Null: there is no such cluster. */
export function findDestination(ctx: Context, id: number): Promise<Destination | null> {
  return ctx.db.maybe(destination, { id });
}

const roomIn = statement<{ service_id: number }, { serviceIds: number[]; clusterId: number }>(
  'fleet.roomIn',
  `select p.service_id from placements p where p.service_id = any(:serviceIds::bigint[]) and exists (
     select 1 from nodes n where n.cluster_id = :clusterId and n.runs_machines and n.state = 'active' and n.reachable
       and n.left_at is null and n.trouble is null
       and n.cpu_cores_promised - n.cpu_cores_taken >= p.cpu_cores
       and n.memory_mib_left >= p.memory_mib
       and n.disk_gib_left >= p.disk_gib + p.copies_gib)`,
);

/** Those of services for which a cluster has room, each seen by itself. */
export async function withRoomIn(
  ctx: Context,
  clusterId: number,
  serviceIds: readonly number[],
): Promise<Set<number>> {
  const found = await ctx.db.many(roomIn, { clusterId, serviceIds: [...serviceIds] });
  return new Set(found.map((each) => each.service_id));
}
