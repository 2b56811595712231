const minute = 60_000;
const hour = 60 * minute;

/** After each try that failed, as Standard Webhooks recommends: three days in all, most of them in its second half. */
const pausesMs = [
  ...[5_000, minute, 5 * minute, 30 * minute],
  ...[2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 20 * hour],
];

/** When to try again after so many tries; null when that was the last. What failed together does not meet again. */
export function pauseAfter(tries: number, random: () => number = Math.random): number | null {
  const pause = pausesMs[tries - 1];
  return pause === undefined ? null : Math.round(pause * (1 + 0.1 * random()));
}
