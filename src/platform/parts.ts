/**
 * How rows that are kept for a while stand in the parts of a table: so many parts, each for so long, one after the other and
 * then from the first one again. What is kept no longer is emptied a part at once, which takes no time and leaves no holes
 * behind, as deleting rows does. A row says its part itself, since PostgreSQL wants it in the key.
 */
export interface Parts {
  count: number;
  partMs: number;
}

/** In which part a row of this moment stands. */
export function partOf(parts: Parts, time: Date): number {
  return runOf(parts, time) % parts.count;
}

/** Those that hold what was of these times. */
export function partsBetween(parts: Parts, from: Date, until: Date): number[] {
  const first = runOf(parts, from);
  const runs = Math.min(runOf(parts, until) - first + 1, parts.count);
  return Array.from({ length: Math.max(0, runs) }, (_, nth) => (first + nth) % parts.count);
}

/** Those that hold nothing of these times: what stands in them is older. */
export function spentParts(parts: Parts, from: Date, until: Date): number[] {
  const held = partsBetween(parts, from, until);
  return Array.from({ length: parts.count }, (_, nth) => nth).filter((nth) => !held.includes(nth));
}

function runOf({ partMs }: Parts, time: Date): number {
  return Math.floor(time.getTime() / partMs);
}
