import type { MachineSample } from '../management.ts';
import { asNumber } from './answers.ts';
import type { Machines, Seen } from './machines.ts';

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
        const known = before.get(each.place.id);
        const isSame = known?.startedAt.getTime() === startedAt.getTime();
        const sinceMs = Math.max(0, at.getTime() - (isSame && known ? known.at : startedAt).getTime());
        const share = Math.max(0, each.place.cpu) * each.place.cpuCores;
        const cpuMs = (isSame && known ? known.cpuMs : 0) + share * sinceMs;
        next.set(each.place.id, { startedAt, at, cpuMs });
        return [sampleOf(each, startedAt, at, cpuMs)];
      });
      before = next;
      return samples;
    },
  };
}

function sampleOf({ place, live }: Seen, startedAt: Date, at: Date, cpuMs: number): MachineSample {
  const count = (name: string) => {
    const told = live?.told[name];
    // What cannot be counted is left at nothing, as in a machine whose disks tell no figures.
    return Math.max(0, asNumber(told ?? 0, name));
  };
  const memoryTotalBytes = count('maxmem');
  return {
    ...{ id: place.id, at, startedAt, cpuMs, memoryTotalBytes },
    memoryUsedBytes: Math.min(count('mem'), memoryTotalBytes),
    ...{ diskReadBytes: count('diskread'), diskWrittenBytes: count('diskwrite') },
    ...{ netInBytes: count('netin'), netOutBytes: count('netout') },
  };
}
