/** In which parts traffic is kept: eight, each for so many days, one after the other and then from the first one again. */
export const resolutions = {
  minutes: { ms: 60_000, partDays: 7 },
  hours: { ms: 3_600_000, partDays: 92 },
} as const;

export type Resolution = keyof typeof resolutions;

/** So many days at most are kept: the part that is next is empty. */
export const mostDays = { minutes: 42, hours: 540 } as const satisfies Record<Resolution, number>;

const parts = 8;
const dayMs = 86_400_000;

export function partOf(resolution: Resolution, time: Date): number {
  return runOf(resolution, time.getTime()) % parts;
}

function runOf(resolution: Resolution, ms: number): number {
  return Math.floor(ms / (resolutions[resolution].partDays * dayMs));
}

/** Those that have nothing which is to be kept; the one that comes next is among them. */
export function spentParts(resolution: Resolution, now: Date, keepDays: number): number[] {
  const at = now.getTime();
  const first = runOf(resolution, at - keepDays * dayMs);
  const kept = new Set<number>();
  for (let run = first; run <= runOf(resolution, at); run += 1) kept.add(run % parts);
  return Array.from({ length: parts }, (_, nth) => nth).filter((nth) => !kept.has(nth));
}
