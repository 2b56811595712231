import { type Parts, partsBetween, spentParts } from '../../platform/index.ts';

const hourS = 3_600;
const dayS = 24 * hourS;

/**
 * In which intervals traffic of servers is kept, and for how long: five minutes as long as the month before is billed by its 95th percentile,
 * and days for two years.
 */
export const resolutions = {
  minutes: { intervalS: 300, keepS: 70 * dayS },
  hours: { intervalS: hourS, keepS: 190 * dayS },
  days: { intervalS: dayS, keepS: 732 * dayS },
} as const;

export type Resolution = keyof typeof resolutions;

export const resolutionNames = Object.keys(resolutions) as Resolution[];

/** What is kept lies in three of them at most, and the one that comes next is empty. */
export const partCount = 4;

/** The tables that `server_traffic` is made of. */
export const trafficTableNames = resolutionNames.flatMap((name) => [
  `server_traffic_${name}`,
  ...Array.from({ length: partCount }, (_, nth) => trafficTable(name, nth)),
]);

export function trafficTable(name: Resolution, part: number): string {
  return `server_traffic_${name}_${part}`;
}

/** In which parts the intervals of a resolution stand. */
export function trafficParts(name: Resolution): Parts {
  return { count: partCount, partMs: (resolutions[name].keepS * 1_000) / (partCount - 2) };
}

/** Those with what was counted since then. */
export function trafficPartsSince(name: Resolution, since: Date, now: Date): number[] {
  return partsBetween(trafficParts(name), since, now);
}

/** Those in which nothing is left that is kept. */
export function spentTrafficParts(name: Resolution, now: Date): number[] {
  return spentParts(trafficParts(name), new Date(now.getTime() - resolutions[name].keepS * 1_000), now);
}
