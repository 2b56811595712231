import type { HypervisorCapability, MemberReport, NodeCapacity } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { attempt, type Context, statement, type TxContext, transaction } from '../../platform/index.ts';
import { nodeBack, nodeJoined, nodeLeft, nodeRenamed, nodeSilent } from '../events.ts';
import { writeTroubles } from '../troubles.ts';

interface NodeRow {
  id: number;
  name: string;
  member: string;
  member_address: string | null;
  left_at: Date | null;
  reachable: boolean;
  machines: number;
}

const clusterOf = statement<{ name: string; location: string }, { id: number }>(
  'fleet.clusterOfMembers',
  'select name, location from clusters where id = :id for no key update',
);
const nodesOf = statement<NodeRow, { id: number }>(
  'fleet.nodesOfCluster',
  `select n.id, n.name, n.member, n.member_address, n.left_at, n.reachable,
     (select count(*)::int from placements p where p.node_id = n.id) as machines
   from nodes n where n.cluster_id = :id order by n.id for no key update of n`,
);
const join = statement<
  { id: number },
  {
    clusterId: number;
    name: string;
    member: string;
    address: string | null;
    location: string;
    cpuCores: number;
    memoryMib: number;
    diskGib: number;
    memoryReserveMib: number;
    diskReserveGib: number;
    memoryFreeMib: number | null;
    diskFreeGib: number | null;
    capabilities: readonly HypervisorCapability[];
    now: Date;
  }
>(
  'fleet.joinNode',
  `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, memory_reserve_mib,
     disk_reserve_gib, memory_mib_free, disk_gib_free, capabilities, cluster_id, member, member_address)
   values (:name, :location, :cpuCores, :memoryMib, :diskGib, :now, :now, :memoryReserveMib, :diskReserveGib,
     :memoryFreeMib, :diskFreeGib, :capabilities::text[], :clusterId, :member, :address) returning id`,
);
const rename = statement<never, { id: number; name: string; member: string }>(
  'fleet.renameNode',
  'update nodes set name = :name, member = :member where id = :id',
);
// What a member has is told while it answers; staff's decisions stay as they are. What it keeps for itself is reckoned once it says
// how large it is, which one that joins with a lack does not.
const hear = statement<
  never,
  {
    id: number;
    address: string | null;
    answers: boolean;
    now: Date;
    cpuCores: number | null;
    memoryMib: number | null;
    diskGib: number | null;
    memoryReserveMib: number | null;
    diskReserveGib: number | null;
    memoryFreeMib: number | null;
    diskFreeGib: number | null;
    isFreeTold: boolean;
    capabilities: readonly HypervisorCapability[];
  }
>(
  'fleet.hearMember',
  `update nodes set member_address = coalesce(:address, member_address), left_at = null, reachable = :answers,
     seen_at = case when :answers::boolean then :now else seen_at end, capabilities = :capabilities::text[],
     cpu_cores = coalesce(:cpuCores, cpu_cores), memory_mib = coalesce(:memoryMib, memory_mib),
     disk_gib = coalesce(:diskGib, disk_gib),
     memory_mib_free = case when :isFreeTold::boolean then :memoryFreeMib::int else memory_mib_free end, disk_gib_free = coalesce(:diskFreeGib, disk_gib_free),
     memory_reserve_mib = case when memory_mib = 0 then greatest(memory_reserve_mib, :memoryReserveMib) else memory_reserve_mib end,
     disk_reserve_gib = case when disk_gib = 0 then greatest(disk_reserve_gib, :diskReserveGib) else disk_reserve_gib end
   where id = :id`,
);
const leave = statement<never, { id: number; now: Date }>(
  'fleet.leaveNode',
  'update nodes set left_at = :now, reachable = false where id = :id',
);
const forget = statement<never, { id: number }>('fleet.forgetNode', 'delete from nodes where id = :id');

/**
 * Writes down which members a cluster has: new ones become nodes, a renamed one is known by where it is reached, and one that is gone takes
 * no machines; its node goes with the last of them. What answers is heard of.
 */
export async function writeMembers(
  ctx: Context,
  clusterId: number,
  members: readonly MemberReport[],
  capabilities: readonly HypervisorCapability[],
): Promise<void> {
  const nodes = await transaction(ctx, 'fleet.writeMembers', async (tx) => {
    const cluster = await tx.db.maybe(clusterOf, { id: clusterId });
    if (cluster === null) return new Map<number, MemberReport>(); // removed meanwhile
    const known = await tx.db.many(nodesOf, { id: clusterId });
    const found = new Map<number, MemberReport>();
    for (const member of members) {
      const node = nodeOf(member, members, known);
      // It is a node once it says how large it is, or what it lacks to be one.
      if (node === null && member.capacity === null && member.troubles.length === 0) continue;
      const id = node?.id ?? (await addNode(tx, { id: clusterId, ...cluster }, member, capabilities));
      if (node !== null) await update(tx, { id: clusterId, ...cluster }, node, member, capabilities);
      found.set(id, member);
    }
    for (const node of known) if (!found.has(node.id)) await remove(tx, clusterId, node);
    return found;
  });
  for (const [id, { answers, troubles }] of nodes) if (answers) await writeTroubles(ctx, id, troubles);
}

/** By its name; else, where its name is new and its address is that of one whose name is gone, it was renamed. */
function nodeOf(
  { name, address }: MemberReport,
  members: readonly MemberReport[],
  known: readonly NodeRow[],
): NodeRow | null {
  const same = known.find(({ member }) => member === name);
  if (same) return same;
  const isGone = ({ member }: NodeRow) => !members.some((each) => each.name === member);
  return known.find((node) => address !== null && node.member_address === address && isGone(node)) ?? null;
}

interface ClusterNamed {
  id: number;
  name: string;
  location: string;
}

async function addNode(
  tx: TxContext,
  cluster: ClusterNamed,
  { name: member, address, capacity, free }: MemberReport,
  capabilities: readonly HypervisorCapability[],
): Promise<number> {
  const { cpuCores, memoryMib, diskGib } = capacity ?? { cpuCores: 0, memoryMib: 0, diskGib: 0 };
  const name = nameOf(cluster, member);
  const { id } = await tx.db.one(join, {
    ...{ clusterId: cluster.id, name, member, address, location: cluster.location, capabilities },
    ...{ cpuCores, memoryMib, diskGib, now: tx.clock.now() },
    ...{ memoryFreeMib: free?.memoryMib ?? null, diskFreeGib: free?.diskGib ?? null },
    ...reserveOf({ memoryMib, diskGib }),
  });
  await record(tx, nodeJoined, { ...about(id), data: { name, cluster_id: cluster.id } });
  return id;
}

async function update(
  tx: TxContext,
  cluster: ClusterNamed,
  node: NodeRow,
  { name: member, address, answers, capacity, free }: MemberReport,
  capabilities: readonly HypervisorCapability[],
): Promise<void> {
  const name = nameOf(cluster, member);
  if (node.member !== member) {
    await tx.db.run(rename, { id: node.id, name, member });
    const data = { name, cluster_id: cluster.id, before: node.name };
    await record(tx, nodeRenamed, { ...about(node.id), data });
  }
  await tx.db.run(hear, {
    ...{ id: node.id, address, answers, now: tx.clock.now(), capabilities },
    cpuCores: capacity?.cpuCores ?? null,
    memoryMib: capacity?.memoryMib ?? null,
    diskGib: capacity?.diskGib ?? null,
    memoryFreeMib: free?.memoryMib ?? null,
    diskFreeGib: free?.diskGib ?? null,
    isFreeTold: free !== undefined,
    ...(capacity ? reserveOf(capacity) : { memoryReserveMib: null, diskReserveGib: null }),
  });
  if (answers === node.reachable) return;
  if (!answers)
    tx.log.warn({ node: name }, 'a member of a cluster is silent, and its node gets no new machines');
  await record(tx, answers ? nodeBack : nodeSilent, { ...about(node.id), data: { name } });
}

async function remove(tx: TxContext, clusterId: number, node: NodeRow): Promise<void> {
  if (node.left_at === null) {
    await tx.db.run(leave, { id: node.id, now: tx.clock.now() });
    const data = { name: node.name, cluster_id: clusterId };
    await record(tx, nodeLeft, { ...about(node.id), data });
  }
  if (node.machines > 0) return;
  // Something else may still know it, such as the machine of an order that is taken back: then the next turn does it.
  await attempt(tx, (inner) => inner.db.run(forget, { id: node.id })).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === '23503')) throw error;
  });
}

function nameOf({ name }: ClusterNamed, member: string): string {
  return `${name}/${member}`;
}

/** What a host keeps for itself, as our own hosts do; of the disk a twentieth, for what the engine needs beside. */
function reserveOf({ memoryMib, diskGib }: Pick<NodeCapacity, 'memoryMib' | 'diskGib'>) {
  return {
    memoryReserveMib: Math.floor(Math.min(Math.max(1_024, memoryMib / 16), memoryMib / 4)),
    diskReserveGib: Math.floor(diskGib / 20),
  };
}

function about(id: number) {
  return { subject: { type: 'node', id }, organizationId: null };
}
