/**
 * Whatever runs machines: this room knows nothing of customers, money or services. It offers one contract
 * (`contract.ts` for a machine's life, `management.ts` for all that is done to it meanwhile), the engines that keep
 * it, and the suites that all of them pass (`conformance.ts`, `managementConformance.ts`).
 *
 * `qemuHypervisor` runs real machines on this host: QEMU processes that outlive us, disks layered over read-only
 * images, a bridge on which packet rules hold every guest to its own addresses. `simulatedHypervisor` keeps the
 * same promises in memory, with delays and failures to order, for load tests and for tests of rules. `incus/` runs machines on an
 * Incus cluster and `proxmox/` on one of Proxmox VE. An engine of many hosts keeps a second contract besides
 * (`cluster.ts`), and is opened by `openCluster`.
 */
export type { HypervisorCapability } from './capabilities.ts';
export * from './cluster.ts';
export { type Clusters, type LookedAt, openClusters, type Unseen, type WantedCluster } from './clusters.ts';
export * from './contract.ts';
export {
  canRunMachines,
  type HostAnswer,
  type HostPackage,
  type HostPackageUse,
  hostPackages,
} from './host.ts';
export { downloadImage } from './images/download.ts';
export type { Log } from './log.ts';
export * from './management.ts';
export { type Host, openHypervisor } from './open.ts';
export { type ClusterSurroundings, type OpenCluster, openCluster } from './openCluster.ts';
export type { PortableDisk } from './portable.ts';
export { fingerprintOf, type Presented, presentedAt } from './presented.ts';
export { type AccelerationProbe, accelerationProbe, acceleratorArguments } from './qemu/acceleration.ts';
export { qemuHypervisor } from './qemu/driver.ts';
export type { BridgeOptions, QemuOptions } from './qemu/options.ts';
export { cloudInitSeed } from './qemu/seed.ts';
export { keptFree } from './qemu/space.ts';
export { type SimulatedHypervisor, type SimulatorOptions, simulatedHypervisor } from './simulator/driver.ts';
export {
  type SimulatedCall,
  type SimulatedMachine,
  type SimulatorStore,
  simulatorStore,
} from './simulator/store.ts';
export { checkIdentity, identityLimits, keysBytes } from './spec.ts';
