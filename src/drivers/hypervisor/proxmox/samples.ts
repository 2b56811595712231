import type { MachineSample } from '../management.ts';
import type { Machines } from './machines.ts';

interface Counted {
  startedAt: Date;
  at: Date;
  cpuMs: number;
}

/**
 * Counters of all machines, by one call for each node. The engine tells what share of their cores machines use and not how much they
 * have used: that is added up here, from look to look.
 */
export function machineSamples(machines: Machines): { sample(): Promise<MachineSample[]> } {
  let before = new Map<string, Counted>();
  return {
    async sample() {
      const { found } = await machines.all(true);
      const at = new Date();
      const next = new Map<string, Counted>();
      const samples = found.flatMap((each) => {
        if (!each.live?.run) return [];
        const { startedAt } = each.live.run;
        const counted = countedIn(each.live.told);
        // Taken for nothing, its traffic since it was started would be counted once more at the next look.
        if (counted === null) return [];
        const known = before.get(each.place.id);
        const isSame = known?.startedAt.getTime() === startedAt.getTime();
        const sinceMs = Math.max(0, at.getTime() - (isSame && known ? known.at : startedAt).getTime());
        const share = Math.max(0, each.place.cpu) * each.place.cpuCores;
        const cpuMs = (isSame && known ? known.cpuMs : 0) + share * sinceMs;
        next.set(each.place.id, { startedAt, at, cpuMs });
        return [{ id: each.place.id, at, startedAt, cpuMs, ...counted }];
      });
      before = next;
      return samples;
    },
  };
}

const figures = ['maxmem', 'mem', 'diskread', 'diskwrite', 'netin', 'netout'] as const;

/** Null where one of the figures cannot be. What is not told is nothing, as of a machine whose disks tell no figures. */
function countedIn(
  told: Record<string, unknown>,
): Omit<MachineSample, 'id' | 'at' | 'startedAt' | 'cpuMs'> | null {
  const counts = figures.map((name) => Number(told[name] ?? 0));
  if (!counts.every((count) => count >= 0 && count <= Number.MAX_SAFE_INTEGER)) return null;
  const [
    memoryTotalBytes = 0,
    memory = 0,
    diskReadBytes = 0,
    diskWrittenBytes = 0,
    netInBytes = 0,
    netOutBytes = 0,
  ] = counts;
  return {
    ...{ memoryTotalBytes, memoryUsedBytes: Math.min(memory, memoryTotalBytes) },
    ...{ diskReadBytes, diskWrittenBytes, netInBytes, netOutBytes },
  };
}
