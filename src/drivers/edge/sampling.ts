import type { Packet, Sample } from './contract.ts';

/** A load is sampled so that about so many come. */
const wantedPerSecond = 500;
const largestOneIn = 65_536;

/**
 * Of those that one in so many is chosen for, so many a second are taken as they are. Of the rest one in `coarser` is, and of the
 * rest of these: a flood that begins between two readings is bounded at once, and each packet still stands for what it was chosen
 * from, so that any part of the samples adds up to what was sent of that part.
 */
export const levels = { takenPerSecond: 1_000, coarser: 64, count: 3 } as const;

/** What nobody fetches is forgotten, the oldest first. */
const keptAtMost = 20_000;

/** One in how many from now on, after so many packets in so many milliseconds; not for every small change, nor for a moment's. */
export function nextOneIn(oneIn: number, packets: number, elapsedMs: number): number {
  const fitting = packets / (Math.max(1_000, elapsedMs) / 1_000) / wantedPerSecond;
  const next = Math.min(largestOneIn, 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, fitting)))));
  if (next > oneIn) return next;
  return next === 1 || next <= oneIn / 4 ? Math.max(1, oneIn / 4) : oneIn;
}

/** Samples between two readings, and what the load was. */
export interface Samples {
  add(packet: Packet, standsFor: number): void;
  /** Those since the reading before, and one in how many it shall be from now on. */
  take(): { samples: Sample[]; oneIn: number };
}

export function samplesSince(now: () => number): Samples {
  let samples: Sample[] = [];
  let [oneIn, since] = [1, now()];
  return {
    add(packet, standsFor) {
      samples.push({ packet, standsFor });
      if (samples.length >= 2 * keptAtMost) samples = samples.slice(-keptAtMost);
    },
    take() {
      const packets = samples.reduce((sum, { standsFor }) => sum + standsFor, 0);
      oneIn = nextOneIn(oneIn, packets, now() - since);
      const taken = samples;
      samples = [];
      since = now();
      return { samples: taken, oneIn };
    },
  };
}
