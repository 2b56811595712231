import type { NodeCapacity } from '../drivers/hypervisor/index.ts';
import { type Context, statement } from '../platform/index.ts';

const insertNode = statement<{ id: number }>(
  'fleet.insertNode',
  `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $6)
   on conflict (name) do update set cpu_cores = excluded.cpu_cores, memory_mib = excluded.memory_mib,
     disk_gib = excluded.disk_gib, seen_at = excluded.seen_at
   returning id`,
);

/** Cores are shared: most machines idle. Memory and disk are promised once only. */
const cpuOvercommit = 8;

/** Writes down a node and what it can hold, or brings its figures up to date. Returns its id. */
export async function registerNode(
  ctx: Context,
  node: { name: string; location: string },
  capacity: NodeCapacity,
): Promise<number> {
  const row = await ctx.db.one(
    insertNode,
    node.name,
    node.location,
    capacity.cpuCores * cpuOvercommit,
    capacity.memoryMib,
    capacity.diskGib,
    ctx.clock.now(),
  );
  return row.id;
}
