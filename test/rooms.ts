import type { TestProduct } from './product.ts';
import { sql } from './sql.ts';

/** In SQL: nodes whose taken room is not the sum of what is held there, for services and for what is left of machines. */
export const roomsThatDiffer = `
  select n.name, n.cpu_cores_taken, n.memory_mib_taken, n.disk_gib_taken, n.copies_gib from nodes n
  left join (select node_id, cpu_cores, memory_mib, disk_gib + copies_gib as disk_gib, copies_gib from placements
    union all select node_id, cpu_cores, memory_mib, disk_gib, 0 from left_rooms) held on held.node_id = n.id
  group by n.id
  having n.cpu_cores_taken <> coalesce(sum(held.cpu_cores), 0) or n.memory_mib_taken <> coalesce(sum(held.memory_mib), 0)
    or n.disk_gib_taken <> coalesce(sum(held.disk_gib), 0) or n.copies_gib <> coalesce(sum(held.copies_gib), 0)`;

/** Nodes whose rooms do not add up. */
export const wrongRooms = (product: TestProduct) => sql<{ name: string }>(product, roomsThatDiffer);

interface LeftRoom {
  node: string;
  machine: string;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
}

/** What nodes hold for what they still have of machines whose room is elsewhere. */
export const leftRooms = (product: TestProduct) =>
  sql<LeftRoom>(
    product,
    `select n.name as node, l.machine, l.cpu_cores, l.memory_mib, l.disk_gib from left_rooms l join nodes n on n.id = l.node_id
     order by l.machine, n.name`,
  );
