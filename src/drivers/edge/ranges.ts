import type { Ranges } from './contract.ts';

export function inRanges(ranges: Ranges, value: number): boolean {
  return ranges.some(([from, to]) => from <= value && value <= to);
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
