import * as platform from '../../platform/index.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const count = 8;

/** In which parts what came is kept: eight, each for so long, one after the other and then from the first one again. */
export const resolutions = {
  minutes: { ms: minuteMs, count, partMs: 7 * dayMs },
  hours: { ms: hourMs, count, partMs: 92 * dayMs },
  /** Of each minute, with what rules can see of packets. */
  flows: { ms: minuteMs, count, partMs: 30 * minuteMs },
} as const;

export type Resolution = keyof typeof resolutions;

/** So many days, or minutes of flows, at most are kept: the part that is next is empty. */
export const mostKept = { minutes: 42, hours: 540, flows: 180 } as const satisfies Record<Resolution, number>;
export const keptIn = { minutes: dayMs, hours: dayMs, flows: minuteMs } as const satisfies Record<
  Resolution,
  number
>;

export function partOf(resolution: Resolution, time: Date): number {
  return platform.partOf(resolutions[resolution], time);
}

/** Those that hold what was of these times. */
export function partsBetween(resolution: Resolution, from: Date, until: Date): number[] {
  return platform.partsBetween(resolutions[resolution], from, until);
}

/** Those that have nothing which is to be kept, for so many days or minutes; the one that comes next is among them. */
export function spentParts(resolution: Resolution, now: Date, keep: number): number[] {
  return platform.spentParts(
    resolutions[resolution],
    new Date(now.getTime() - keep * keptIn[resolution]),
    now,
  );
}
