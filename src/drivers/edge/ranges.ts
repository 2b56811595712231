import type { Ranges } from './contract.ts';

export function inRanges(ranges: Ranges, value: number): boolean {
  return ranges.some(([from, to]) => from <= value && value <= to);
}

/** So few are looked through as quickly as they are searched. */
const fewRanges = 4;

/** The same for many values: of many ranges it is searched. */
export function memberOf(ranges: Ranges): (value: number) => boolean {
  if (ranges.length <= fewRanges) return (value) => inRanges(ranges, value);
  // From one to the next of these it is within, and from there to the next it is not.
  const edges = Float64Array.from(tidyRanges(ranges).flatMap(([from, to]) => [from, to + 1]));
  return (value) => {
    let [low, high] = [0, edges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((edges[middle] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low % 2 === 1;
  };
}

/** The same numbers, in order, those that touch or overlap put together. */
export function tidyRanges(ranges: Ranges): [number, number][] {
  const tidy: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = tidy.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else tidy.push([from, to]);
  }
  return tidy;
}

export function common(some: Ranges, others: Ranges): [number, number][] {
  return tidyRanges(
    some.flatMap(([from, to]) =>
      others
        .map(([begin, end]): [number, number] => [Math.max(from, begin), Math.min(to, end)])
        .filter(([begin, end]) => begin <= end),
    ),
  );
}
