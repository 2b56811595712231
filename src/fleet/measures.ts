import { type MeasureSource, type Sample, statement } from '../platform/index.ts';

interface NodeCounts {
  name: string;
  location: string;
  state: string;
  reachable: boolean;
  seen_at: Date | null;
  cpu_cores_promised: number;
  memory_mib_promised: number;
  disk_gib_promised: number;
  cpu_cores_taken: number;
  memory_mib_taken: number;
  disk_gib_taken: number;
}

/** A fleet that is larger is watched by its locations, in tools of its own. */
const nodesAtMost = 1_000;

const nodeCounts = statement<NodeCounts>(
  'fleet.measure',
  `select name, location, state, reachable, seen_at, cpu_cores_promised, memory_mib_promised, disk_gib_promised,
     cpu_cores_taken, memory_mib_taken, disk_gib_taken from nodes order by id limit ${nodesAtMost}`,
);

const mib = 2 ** 20;
const gib = 2 ** 30;

/** Nodes: whether they are heard of, and what they may promise, have given away, and have left. */
export const fleetMeasures: MeasureSource = {
  measures: [
    { name: 'node_reachable', help: 'Whether the node was heard of within the last minute (1) or not (0).' },
    { name: 'node_state', help: 'What staff decided of the node: 1 for the state that it has.' },
    { name: 'node_last_seen_timestamp_seconds', help: 'When the node was heard of last.' },
    { name: 'node_cpu_cores_promised', help: 'Cores that the node may promise.' },
    { name: 'node_cpu_cores_taken', help: 'Cores that machines use and orders hold.' },
    { name: 'node_memory_promised_bytes', help: 'Memory that the node may promise.' },
    { name: 'node_memory_taken_bytes', help: 'Memory that machines use and orders hold.' },
    { name: 'node_memory_free_bytes', help: 'Memory that the node has left to promise.' },
    { name: 'node_disk_promised_bytes', help: 'Disk that the node may promise.' },
    { name: 'node_disk_taken_bytes', help: 'Disk that machines use and orders hold, copies included.' },
    { name: 'node_disk_free_bytes', help: 'Disk that the node has left to promise.' },
  ],
  read: async (ctx) => (await ctx.db.many(nodeCounts)).flatMap(samplesOf),
};

function samplesOf(node: NodeCounts): Sample[] {
  const labels = { node: node.name, location: node.location };
  const left = (promised: number, taken: number) => Math.max(0, promised - taken);
  const { memory_mib_promised: memory, memory_mib_taken: memoryTaken } = node;
  const { disk_gib_promised: disk, disk_gib_taken: diskTaken } = node;
  const values: Record<string, number> = {
    node_reachable: node.reachable ? 1 : 0,
    ...(node.seen_at && { node_last_seen_timestamp_seconds: node.seen_at.getTime() / 1_000 }),
    node_cpu_cores_promised: node.cpu_cores_promised,
    node_cpu_cores_taken: node.cpu_cores_taken,
    node_memory_promised_bytes: memory * mib,
    node_memory_taken_bytes: memoryTaken * mib,
    node_memory_free_bytes: left(memory, memoryTaken) * mib,
    node_disk_promised_bytes: disk * gib,
    node_disk_taken_bytes: diskTaken * gib,
    node_disk_free_bytes: left(disk, diskTaken) * gib,
  };
  const states = ['active', 'draining', 'down'].map((state) => ({
    name: 'node_state',
    labels: { ...labels, state },
    value: state === node.state ? 1 : 0,
  }));
  return [...states, ...Object.entries(values).map(([name, value]) => ({ name, labels, value }))];
}
