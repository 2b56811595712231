import type { BgpPeer } from '../../drivers/edge/index.ts';

const firstMs = 5 * 60_000;
const longestMs = 6 * 3_600_000;
/** After so long without breaking off it counts as the first time again. */
const forgottenMs = 24 * 3_600_000;

/** At most so many routes for rules of customers; null: as many as staff leaves room for. */
export type Restrain = (
  peers: readonly Pick<BgpPeer, 'address' | 'refusals'>[],
  told: number,
  now: number,
) => number | null;

/**
 * A router that takes fewer routes than it is told of breaks off, is back within seconds, hears all of them and is gone again, and with
 * it what stands against attacks. So when one breaks off, half of the `told` routes for rules go, which filter at the nodes all the same, and half of these if that is not
 * enough. All of them are told again after a while, which is twice as long each time.
 */
export function createRestraint(): Restrain {
  const known = new Map<string, number>();
  let most: number | null = null;
  let times = 0;
  let [brokeOffAt, until] = [0, 0];
  return (peers, told, now) => {
    const hasBrokenOff = peers.map(({ address, refusals }) => {
      const before = known.get(address) ?? refusals;
      known.set(address, refusals);
      return refusals > before;
    });
    if (hasBrokenOff.includes(true) && told > 0) {
      if (now - brokeOffAt > forgottenMs) times = 0;
      most = Math.floor(Math.min(told, most ?? told) / 2);
      brokeOffAt = now;
      until = now + Math.min(longestMs, firstMs * 2 ** times);
      times += 1;
    } else if (now >= until || now < brokeOffAt) most = null; // a clock that went back makes nobody wait
    return most;
  };
}
