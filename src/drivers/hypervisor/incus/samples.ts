import type { MachineId } from '../contract.ts';
import type { MachineSample } from '../management.ts';

type Counters = Omit<MachineSample, 'id' | 'at' | 'startedAt'>;

const line = /^incus_(\w+)\{(.*)\} (\S+)$/;
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const wrapped = 2 ** 64;
/** An exabyte. */
const most = 1e18;

/** What the metrics of a member say of each machine of a project: the text form of Prometheus. */
export function countersIn(metrics: string, project: string): Map<MachineId, Counters> {
  const found = new Map<MachineId, Counters>();
  const free = new Map<MachineId, number>();
  for (const each of metrics.split('\n')) {
    const [, metric = '', labels = '', number = ''] = line.exec(each) ?? [];
    const of = Object.fromEntries([...labels.matchAll(label)].map(([, name, value]) => [name, value]));
    const value = Number(number);
    // What somebody named with a quote or a line break in it is no machine of ours.
    if (of.project !== project || of.type !== 'virtual-machine' || !/^[a-z0-9-]{1,40}$/.test(of.name ?? ''))
      continue;
    // Nothing counts so far: written down together with the others', it would keep those from being written.
    if (!(value >= 0 && (value <= most || metric === 'memory_MemAvailable_bytes'))) continue;
    const counters = found.get(of.name) ?? none();
    found.set(of.name, counters);
    if (metric === 'cpu_seconds_total' && of.mode !== 'idle') counters.cpuMs += value * 1_000;
    else if (metric === 'disk_read_bytes_total') counters.diskReadBytes += value;
    else if (metric === 'disk_written_bytes_total') counters.diskWrittenBytes += value;
    else if (metric === 'network_receive_bytes_total' && of.device !== 'lo') counters.netInBytes += value;
    else if (metric === 'network_transmit_bytes_total' && of.device !== 'lo') counters.netOutBytes += value;
    else if (metric === 'memory_MemTotal_bytes') counters.memoryTotalBytes = value;
    else if (metric === 'memory_MemAvailable_bytes') free.set(of.name, value);
  }
  for (const [id, counters] of found)
    counters.memoryUsedBytes = used(counters.memoryTotalBytes, free.get(id));
  return found;
}

/**
 * Without an agent in the guest the engine takes from the machine's memory what it holds on the host, which may be more: what is free
 * is then less than nothing, and written as if it had no sign.
 */
function used(totalBytes: number, freeBytes: number | undefined): number {
  if (freeBytes === undefined) return totalBytes;
  const signed = freeBytes >= wrapped / 2 ? freeBytes - wrapped : freeBytes;
  return Math.min(Math.max(totalBytes - signed, 0), totalBytes);
}

function none(): Counters {
  return {
    ...{ cpuMs: 0, memoryUsedBytes: 0, memoryTotalBytes: 0 },
    ...{ diskReadBytes: 0, diskWrittenBytes: 0, netInBytes: 0, netOutBytes: 0 },
  };
}
