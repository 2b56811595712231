import type { Limit } from './contract.ts';

/** Whether a packet of so many bytes, at this millisecond, is within. */
export type Bucket = (bytes: number, now: number) => boolean;

/** What a burst stands for in bytes, where bits are limited. */
export const bytesOfPacket = 1500;

/** Full at first, and filled again at its rate. A limit of both rates takes from the one only what the other lets through. */
export function bucketOf({ packetsPerSecond, bitsPerSecond, burst }: Limit, begun: number): Bucket {
  const packets = packetsPerSecond === undefined ? null : tokens(packetsPerSecond, burst, begun);
  const bits = bitsPerSecond === undefined ? null : tokens(bitsPerSecond / 8, burst * bytesOfPacket, begun);
  return (bytes, now) => (packets?.(1, now) ?? true) && (bits?.(bytes, now) ?? true);
}

function tokens(perSecond: number, most: number, begun: number): (cost: number, now: number) => boolean {
  let [left, last] = [most, begun];
  return (cost, now) => {
    left = Math.min(most, left + ((now - last) / 1000) * perSecond);
    last = now;
    if (left < cost) return false;
    left -= cost;
    return true;
  };
}
