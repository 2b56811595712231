/** Protocols that traffic is counted by. */
export const countedApart: readonly number[] = [1, 4, 6, 17, 47, 50, 58];

/**
 * As what all others are counted together. Each would be a count of its own at each address for whoever sends one packet of it, and so
 * take the room, and the time of each reading, of those that are of some use.
 */
export const otherProtocol = 255;

export function countedAs(protocol: number): number {
  return countedApart.includes(protocol) ? protocol : otherProtocol;
}
