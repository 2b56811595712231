import { type Parts, partsBetween, spentParts } from '../platform/index.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Resolution of each chart and how long its points are kept: some 360 points a machine and chart, no more. */
export const resolutions = {
  hour: { intervalS: 10, keepS: hour },
  day: { intervalS: 5 * minute, keepS: day },
  week: { intervalS: 30 * minute, keepS: 7 * day },
  month: { intervalS: 2 * hour, keepS: 31 * day },
  year: { intervalS: day, keepS: 366 * day },
} as const;

export type Period = keyof typeof resolutions;

export const periods = Object.keys(resolutions) as Period[];

/** Who measures may have a clock that is ahead by less than this. */
export const aheadMs = minute * 1_000;

/** What is kept lies in three of them at most, and the one that comes next is empty. */
const count = 4;

/** The tables that `vps_charts` is made of. */
export const chartTableNames = periods.flatMap((period) => [
  `vps_charts_${period}`,
  ...Array.from({ length: count }, (_, nth) => chartTable(period, nth)),
]);

export function chartTable(period: Period, part: number): string {
  return `vps_charts_${period}_${part}`;
}

/** In which parts the points of a period stand. */
export function chartParts(period: Period): Parts {
  return { count, partMs: (resolutions[period].keepS * 1_000) / (count - 2) };
}

/** Those with what was measured since then. */
export function chartPartsSince(period: Period, since: Date, now: Date): number[] {
  return partsBetween(chartParts(period), since, new Date(now.getTime() + aheadMs));
}

/** Those in which nothing is left that is kept. */
export function spentChartParts(period: Period, now: Date): number[] {
  const from = new Date(now.getTime() - resolutions[period].keepS * 1_000);
  return spentParts(chartParts(period), from, new Date(now.getTime() + aheadMs));
}

/** The same in SQL of a moment that the database reckons; `partS` and `count` are {@link chartPartsInSql}. */
export const partInSql = (time: string) =>
  `mod(floor(extract(epoch from ${time}) / :partS::bigint)::bigint, :partCount::bigint)::smallint`;

export function chartPartsInSql(period: Period): { partS: number; partCount: number } {
  const { partMs } = chartParts(period);
  return { partS: partMs / 1_000, partCount: count };
}
