/**
 * What stands in front of addresses and filters the packets to them. One contract (`contract.ts`), the engines that keep
 * it, the suite that all of them pass (`conformance.ts`), and the one function that says what a policy does to a packet
 * (`judge.ts`).
 */
export {
  type BgpBounds,
  type BgpEdge,
  type BgpEdgeOptions,
  type BgpRouters,
  bgpEdge,
  bgpRouters,
  type RoutersRead,
} from './bgp/driver.ts';
export type { BgpPeer } from './bgp/peers.ts';
export { fittingOf, type LeftOut } from './bgp/told.ts';
export * from './contract.ts';
export { flagBits, flagsOf } from './headers.ts';
export { type Head, headOf, judge, judgeHeadsOf, judgeOf, type Verdict } from './judge.ts';
export { type MemoryEdge, type MemoryEdgeOptions, memoryEdge } from './memory.ts';
export { type NftablesEdgeOptions, nftablesEdge } from './nftables/driver.ts';
export { hasKernelSynproxy, whyNoNftables } from './nftables/usable.ts';
export { addressText, holds, type Network, parsePrefix, prefixText, readPrefix, wider } from './prefix.ts';
export { tidyRanges } from './ranges.ts';
export { reflectors } from './reflectors.ts';
