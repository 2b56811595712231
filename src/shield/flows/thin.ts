/** How often something came, and of how many samples that is said. */
export interface Weight {
  packets: number;
  samples: number;
}

/**
 * At most so many of these, and any part of them still adds up to what it was, as near as chance allows: the large ones stay as
 * they are, and of the small ones some, each for those that go (threshold sampling). `random` is from 0 to below 1.
 */
export function thin<Key>(
  weights: ReadonlyMap<Key, Weight>,
  most: number,
  random: () => number = Math.random,
): Map<Key, Weight> {
  if (weights.size <= most) return new Map(weights);
  const least = thresholdOf(
    [...weights.values()].map(({ packets }) => packets),
    most,
  );
  // One draw for all of them: so many are left, and not about so many.
  let due = random();
  const kept = new Map<Key, Weight>();
  for (const [key, weight] of weights) {
    if (weight.packets >= least) {
      kept.set(key, weight);
      continue;
    }
    due += weight.packets / least;
    if (due < 1) continue;
    due -= 1;
    kept.set(key, { packets: wholeNear(least, random), samples: weight.samples });
  }
  return kept;
}

/** Those below it are kept by chance, as often as their size is to this. */
function thresholdOf(sizes: number[], most: number): number {
  const sorted = Float64Array.from(sizes).sort().reverse();
  let left = sizes.reduce((sum, size) => sum + size, 0);
  for (let larger = 0; larger < most; larger += 1) {
    const size = sorted[larger] ?? 0;
    const threshold = left / (most - larger);
    if (size < threshold) return threshold;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** Up or down by chance, so that many of them add up. */
function wholeNear(value: number, random: () => number): number {
  return Math.floor(value) + (random() < value % 1 ? 1 : 0);
}
