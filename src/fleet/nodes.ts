import type { NodeCapacity } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  type Context,
  lastServing,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import type { NodeChange } from './changes.ts';
import { daysUntilFull } from './days.ts';
import { nodeUpdated } from './events.ts';

interface NodeRow {
  id: number;
  name: string;
  location: string;
  cluster_id: number | null;
  cluster_state: 'active' | 'draining' | null;
  state: 'active' | 'draining' | 'down';
  reachable: boolean;
  trouble: string | null;
  runs_machines: boolean;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
  cpu_overcommit: number;
  memory_reserve_mib: number;
  disk_reserve_gib: number;
  cpu_cores_promised: number;
  memory_mib_promised: number;
  disk_gib_promised: number;
  cpu_cores_taken: number;
  memory_mib_taken: number;
  disk_gib_taken: number;
  memory_mib_left: number;
  disk_gib_left: number;
  copies_gib: number;
  memory_full_in_days: number | null;
  disk_full_in_days: number | null;
  machines: number;
  seen_at: Date | null;
  created_at: Date;
}

/** What a node keeps for itself. */
export interface Reserve {
  memoryMib: number;
  diskGib: number;
}

// Staff's decisions (overcommit, reserves, state) stay as they are when the node starts again. Another host's row stays
// wholly as it is.
const insertNode = statement<
  { id: number },
  {
    name: string;
    location: string;
    dataDirId: string;
    isAlone: boolean;
    cpuCores: number;
    memoryMib: number;
    diskGib: number;
    now: Date;
    memoryReserveMib: number;
    diskReserveGib: number;
  }
>(
  'fleet.insertNode',
  `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, memory_reserve_mib,
     disk_reserve_gib, data_dir_id)
   values (:name, :location, :cpuCores, :memoryMib, :diskGib, :now, :now, :memoryReserveMib, :diskReserveGib,
     :dataDirId::uuid)
   on conflict (name) do update set cpu_cores = excluded.cpu_cores, memory_mib = excluded.memory_mib,
     disk_gib = excluded.disk_gib, seen_at = excluded.seen_at, reachable = true, data_dir_id = excluded.data_dir_id,
     runs_machines = true
   where :isAlone or nodes.data_dir_id is null or nodes.data_dir_id = excluded.data_dir_id
   returning id`,
);

// A node that has machines, or room for them that somebody has ordered, stays one.
const insertRouter = statement<
  { id: number },
  { name: string; location: string; dataDirId: string; isAlone: boolean; now: Date }
>(
  'fleet.insertRouter',
  `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, runs_machines, seen_at, created_at, data_dir_id)
   values (:name, :location, 0, 0, 0, false, :now, :now, :dataDirId::uuid)
   on conflict (name) do update set cpu_cores = 0, memory_mib = 0, disk_gib = 0, runs_machines = false, trouble = null,
     troubled_at = null, seen_at = excluded.seen_at, reachable = true, data_dir_id = excluded.data_dir_id
   where (:isAlone or nodes.data_dir_id is null or nodes.data_dir_id = excluded.data_dir_id)
     and not exists (select 1 from placements p where p.node_id = nodes.id)
   returning id`,
);
const machinesAt = statement<{ count: number }, { name: string }>(
  'fleet.machinesAtNode',
  `select count(*)::int as count from placements p join nodes n on n.id = p.node_id where n.name = :name`,
);

const otherHost = statement<{ id: number }, { name: string; dataDirId: string }>(
  'fleet.otherHost',
  'select id from nodes where name = :name and data_dir_id <> :dataDirId::uuid',
);

const nodeOfName = statement<{ id: number }, { name: string }>(
  'fleet.nodeOfName',
  'select id from nodes where name = :name',
);

const memoryLeft = 't.memory_mib_promised - t.memory_mib_taken';
const diskLeft = 't.disk_gib_promised - t.disk_gib_taken';

const selectNode = `
  select t.id, t.name, t.location, t.cluster_id,
    (select c.state from clusters c where c.id = t.cluster_id) as cluster_state, t.state, t.reachable, t.trouble, t.runs_machines, t.cpu_cores, t.memory_mib, t.disk_gib, t.cpu_overcommit,
    t.memory_reserve_mib, t.disk_reserve_gib, t.cpu_cores_promised, t.memory_mib_promised, t.disk_gib_promised,
    t.cpu_cores_taken, t.memory_mib_taken, t.disk_gib_taken, t.memory_mib_left, t.disk_gib_left, t.copies_gib, t.seen_at, t.created_at,
    case when t.state = 'active' then ${daysUntilFull('node', 't.id', 'memory', memoryLeft)} end as memory_full_in_days,
    case when t.state = 'active' then ${daysUntilFull('node', 't.id', 'disk', diskLeft)} end as disk_full_in_days,
    (select count(*)::int from placements p where p.node_id = t.id) as machines
  from nodes t`;
const nodeById = statement<NodeRow, { id: number }>('fleet.node', `${selectNode} where t.id = :id`);
const lock = statement<never, { id: number }>(
  'fleet.lockNode',
  'select id from nodes where id = :id for no key update',
);
const updateNode = statement<
  never,
  {
    id: number;
    state: 'active' | 'draining' | 'down';
    cpuOvercommit: number;
    memoryReserveMib: number;
    diskReserveGib: number;
  }
>(
  'fleet.updateNode',
  `update nodes set state = :state, cpu_overcommit = :cpuOvercommit, memory_reserve_mib = :memoryReserveMib,
     disk_reserve_gib = :diskReserveGib where id = :id`,
);
const nodes = pagedList<NodeRow>({
  name: 'fleet.nodes',
  from: 'nodes t',
  select: selectNode,
  filters: { location: 't.location = :location' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'id',
});

/** A host that starts as a node. */
export interface Host {
  /** What it calls itself in the fleet. */
  name: string;
  location: string;
  /** What tells the DATA_DIR with its machines from every other one. */
  dataDirId: string;
  /** Whether no other host can reach this database, so that whoever starts is the node that it knows. */
  isAlone?: boolean;
}

/** Another host is the node of this name; the message says what to do. */
export class NodeTaken extends Error {}

/**
 * Writes down a node, its capacity and its reserve, or brings the capacity of a known one up to date. Returns its id.
 * Two hosts of one name would take each other's machines for lost: the second is refused with {@link NodeTaken}.
 */
export async function registerNode(
  ctx: Context,
  { name, location, dataDirId, isAlone = false }: Host,
  capacity: NodeCapacity,
  reserve: Reserve = { memoryMib: 0, diskGib: 0 },
): Promise<number> {
  const { cpuCores, memoryMib, diskGib } = capacity;
  const row = await ctx.db.maybe(insertNode, {
    ...{ name, location, dataDirId, isAlone, cpuCores, memoryMib, diskGib, now: ctx.clock.now() },
    memoryReserveMib: reserve.memoryMib,
    diskReserveGib: reserve.diskGib,
  });
  if (row === null) throw await taken(ctx, name);
  return row.id;
}

/**
 * Writes down a host that runs no machines: it has nothing to promise, and nobody is placed there. Returns its id. {@link NodeTaken} when
 * another host has its name, or when it has machines.
 */
export async function registerRouter(
  ctx: Context,
  { name, location, dataDirId, isAlone = false }: Host,
): Promise<number> {
  const row = await ctx.db.maybe(insertRouter, {
    ...{ name, location, dataDirId, isAlone, now: ctx.clock.now() },
  });
  if (row !== null) return row.id;
  const { count } = await ctx.db.one(machinesAt, { name });
  if (count === 0) throw await taken(ctx, name);
  throw new NodeTaken(
    `HYPERVISOR is none, but the node "${name}" has ${count} machines or orders. Give this host a NODE_NAME of its own, or ` +
      'let the node end its machines first.',
  );
}

/** Refuses a host under the name of another one, before it has done anything: {@link NodeTaken}. */
export async function requireOwnName(ctx: Context, { name, dataDirId, isAlone }: Host): Promise<void> {
  if (!isAlone && (await ctx.db.maybe(otherHost, { name, dataDirId })) !== null) throw await taken(ctx, name);
}

async function taken(ctx: Context, name: string): Promise<NodeTaken> {
  const id = await findNodeId(ctx, name);
  const last = id === null ? null : await lastServing(ctx, id);
  const who =
    last === null ? '' : `is the host ${last.host}, heard of last at ${last.seenAt.toISOString()}, and `;
  return new NodeTaken(
    `The node "${name}" ${who}has its machines in another DATA_DIR: this is another host, or its DATA_DIR was left behind. ` +
      'Give this host a NODE_NAME of its own, or bring the DATA_DIR along. If the other host is gone for good and this ' +
      `one takes its place, say so first: npm run innkeeper -- replace-node --name ${name}`,
  );
}

/** The node of a name; null when there is none. */
export async function findNodeId(ctx: Context, name: string): Promise<number | null> {
  return (await ctx.db.maybe(nodeOfName, { name }))?.id ?? null;
}

export async function listNodes(ctx: Context, query: ListRequest & { location?: string | undefined }) {
  const { rows, at } = await nodes(ctx, query, { location: query.location });
  return listData('nodes', rows.map(viewNode), at);
}

export async function readNode(ctx: Context, id: number) {
  const row = await requireRow(ctx, nodeById, { id });
  return { node: viewNode(row) };
}

/** Nobody changes the node until the transaction ends. */
export async function lockNode(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lock, { id });
}

/**
 * Decides what a node may promise and whether it takes new machines. What is promised already stays promised:
 * a node over its new limits takes nothing more until enough machines are gone.
 */
export async function changeNode(ctx: Context, id: number, change: NodeChange) {
  return transaction(ctx, 'fleet.changeNode', async (tx) => {
    await lockNode(tx, id);
    const node = await requireRow(tx, nodeById, { id });
    await tx.db.run(updateNode, {
      id,
      state: change.state ?? node.state,
      cpuOvercommit: change.cpu_overcommit ?? node.cpu_overcommit,
      memoryReserveMib: change.memory_reserve_mib ?? node.memory_reserve_mib,
      diskReserveGib: change.disk_reserve_gib ?? node.disk_reserve_gib,
    });
    await record(tx, nodeUpdated, {
      subject: { type: 'node', id },
      organizationId: null,
      data: { name: node.name, change },
    });
    return readNode(tx, id);
  });
}

/** Decides whether a node takes new machines, as {@link changeNode} does, with what else its caller writes. `not_found`. */
export async function setNodeState(tx: TxContext, id: number, state: 'active' | 'draining'): Promise<void> {
  await lockNode(tx, id);
  const node = await requireRow(tx, nodeById, { id });
  if (node.state === state) return;
  await tx.db.run(updateNode, {
    ...{ id, state, cpuOvercommit: node.cpu_overcommit },
    ...{ memoryReserveMib: node.memory_reserve_mib, diskReserveGib: node.disk_reserve_gib },
  });
  const data = { name: node.name, change: { state } };
  await record(tx, nodeUpdated, { subject: { type: 'node', id }, organizationId: null, data });
}

function viewNode(row: NodeRow) {
  const promised = {
    cpu_cores: row.cpu_cores_promised,
    memory_mib: row.memory_mib_promised,
    disk_gib: row.disk_gib_promised,
  };
  const taken = {
    cpu_cores: row.cpu_cores_taken,
    memory_mib: row.memory_mib_taken,
    disk_gib: row.disk_gib_taken,
  };
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    cluster_id: row.cluster_id,
    state: row.state,
    reachable: row.reachable,
    trouble: row.trouble,
    runs_machines: row.runs_machines,
    accepts_machines:
      row.runs_machines &&
      row.state === 'active' &&
      row.cluster_state !== 'draining' &&
      row.reachable &&
      row.trouble === null,
    capacity: { cpu_cores: row.cpu_cores, memory_mib: row.memory_mib, disk_gib: row.disk_gib },
    cpu_overcommit: row.cpu_overcommit,
    memory_reserve_mib: row.memory_reserve_mib,
    disk_reserve_gib: row.disk_reserve_gib,
    promised,
    taken,
    copies_gib: row.copies_gib,
    free: {
      cpu_cores: Math.max(0, promised.cpu_cores - taken.cpu_cores),
      memory_mib: Math.max(0, row.memory_mib_left),
      disk_gib: Math.max(0, row.disk_gib_left),
    },
    full_in_days: { memory: row.memory_full_in_days, disk: row.disk_full_in_days },
    machines: row.machines,
    last_seen_at: row.seen_at,
    created_at: row.created_at,
  };
}
