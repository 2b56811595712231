import { readFileSync } from 'node:fs';
import type { MachineSample } from '../management.ts';
import type { Monitor } from './monitor.ts';
import { plainCount } from './plainText.ts';
import { startedAt, ticksPerSecond } from './process.ts';
import { runningSize } from './resize.ts';

/** How often a guest reports its memory, in seconds: as often as anyone asks. */
const balloonIntervalS = 10;
const qmpTimeoutMs = 3_000;
const pageBytes = 4096;

export interface Sampler {
  sample(monitors: readonly Monitor[]): Promise<MachineSample[]>;
}

/** Facts that do not change while a machine runs. */
interface Known {
  startedAt: Date;
  memoryTotalBytes: number;
}

interface DiskCounters {
  read: number;
  written: number;
}

/**
 * Reads the counters of all machines in one pass: processor time and memory from /proc, the network from one read
 * of the host's devices, and over the connection we hold anyway two questions to each QEMU. Files of /proc are
 * read at once: they never wait for a disk, and a detour over threads costs more than reading them.
 */
export function sampler(sizeOf: typeof runningSize = runningSize): Sampler {
  const known = new WeakMap<Monitor, Known>();

  async function facts(monitor: Monitor): Promise<Known | null> {
    const before = known.get(monitor);
    if (before) return before;
    const started = await startedAt(monitor.pid);
    const size = await sizeOf(monitor.pid);
    if (!started || !size) return null;
    const property = { path: balloonPath, property: 'guest-stats-polling-interval', value: balloonIntervalS };
    await monitor.command('qom-set', property, qmpTimeoutMs);
    const found = { startedAt: started, memoryTotalBytes: size.memoryMib * 2 ** 20 };
    known.set(monitor, found);
    return found;
  }

  async function sampleOne(
    monitor: Monitor,
    net: Map<string, NetCounters>,
    at: Date,
  ): Promise<MachineSample | null> {
    const fixed = await facts(monitor);
    if (!fixed) return null;
    const [disk, guestMemory] = await Promise.all([diskCounters(monitor), memoryOfGuest(monitor)]);
    const { cpuMs, residentBytes } = processCounters(monitor.pid);
    const { received = 0, sent = 0 } = net.get(monitor.files.tap) ?? {};
    return {
      id: monitor.files.id,
      at,
      ...fixed,
      cpuMs,
      memoryUsedBytes: Math.min(guestMemory ?? residentBytes, fixed.memoryTotalBytes),
      diskReadBytes: disk.read,
      diskWrittenBytes: disk.written,
      // What the host sends into the tap is what the guest receives.
      netInBytes: sent,
      netOutBytes: received,
    };
  }

  return {
    async sample(monitors) {
      const at = new Date();
      const net = readNetCounters();
      // A machine that ends or hangs meanwhile is left out, and costs the others nothing.
      const samples = monitors.map((monitor) => sampleOne(monitor, net, at).catch(() => null));
      return (await Promise.all(samples)).filter((each) => each !== null);
    },
  };
}

const balloonPath = '/machine/peripheral/balloon0';

async function diskCounters(monitor: Monitor): Promise<DiskCounters> {
  const devices = (await monitor.command('query-blockstats', {}, qmpTimeoutMs)) as {
    'node-name'?: string;
    stats?: { rd_bytes?: unknown; wr_bytes?: unknown };
  }[];
  const disk = devices.find((each) => each['node-name'] === 'disk0')?.stats;
  return { read: plainCount(disk?.rd_bytes) ?? 0, written: plainCount(disk?.wr_bytes) ?? 0 };
}

/**
 * As the guest counts it, without what its caches would give back at once; null until it has reported, and when its
 * numbers make no sense, as it can write there what it likes.
 */
async function memoryOfGuest(monitor: Monitor): Promise<number | null> {
  const property = { path: balloonPath, property: 'guest-stats' };
  const { stats } = (await monitor.command('qom-get', property, qmpTimeoutMs)) as {
    stats?: Record<string, unknown>;
  };
  const total = plainCount(stats?.['stat-total-memory']); // one it does not say is -1, here 2^64 - 1
  const available = plainCount(stats?.['stat-available-memory']);
  return total === null || available === null || available > total ? null : total - available;
}

/** proc(5): in `stat` the 14th and 15th field are processor time, in `statm` the second is resident pages. */
function processCounters(pid: number): { cpuMs: number; residentBytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const resident = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1];
  return {
    cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond,
    residentBytes: Number(resident) * pageBytes,
  };
}

interface NetCounters {
  received: number;
  sent: number;
}

/** Lines such as `  tap0: bytes packets errs drop fifo frame compressed multicast bytes …`: received, then sent. */
function readNetCounters(): Map<string, NetCounters> {
  const counters = new Map<string, NetCounters>();
  for (const line of readFileSync('/proc/self/net/dev', 'latin1').split('\n')) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const fields = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    counters.set(line.slice(0, colon).trim(), { received: Number(fields[0]), sent: Number(fields[8]) });
  }
  return counters;
}
