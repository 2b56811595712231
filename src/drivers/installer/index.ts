/**
 * The system that servers are installed with: Debian's kernel and programs in one archive that a server starts from the network and runs
 * from memory (`image/`), with scripts of ours that take an inventory, wipe disks so that it is proved, write a system's file tree and make
 * every disk start it (`scripts/`). It is also the rescue system of customers.
 *
 * Its other side is here as well, without a place to keep anything: what it is told (`plan.ts`), what it tells (`report.ts`,
 * `inventory.ts`), how a server proves that it is the one behind its BMC (`proof.ts`), and the calls by which it does (`handler.ts`).
 */
export type { BootSource } from './bootOrder.ts';
export { type CallCertificate, ensureCallCertificate } from './certificate.ts';
export { seedOf } from './disks/seed.ts';
export { type DiskSource, ensureDisk } from './disks/store.ts';
export { InstallerError, type InstallerErrorCode } from './failure.ts';
export { type Desk, installerHandler } from './handler.ts';
export { ensureInstaller, type InstallerImage, installerFolder } from './image/store.ts';
export type { Inventory, InventoryDisk } from './inventory.ts';
export {
  checkPlan,
  type DiskPlan,
  type Identity,
  type InstallPlan,
  type Plan,
  type RescuePlan,
} from './plan.ts';
export { claim, hashOf, newStart, nonceReader, prove, type Start } from './proof.ts';
export { type Report, readReport, type Wiped, type WipeMethod, wipeMethods } from './report.ts';
export {
  ensureTree,
  type PackedSystem,
  readsUserData,
  type Tree,
  type TreeName,
  treeFolders,
} from './trees/store.ts';
