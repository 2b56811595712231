/**
 * Controllers of servers: what switches a server on and off, chooses what it starts from and shows its serial line, also while the server is off.
 * One contract (`contract.ts`) and the suite that all engines pass (`conformance.ts`). An engine says single things to a BMC (`controls.ts`);
 * `proven.ts` makes the contract of it, in turn, within deadlines, and believing no answer that it can check.
 */
export { ownAccount, randomPassword } from './accounts.ts';
export { type BmcConnection, longestPassword, shortestPassword } from './connection.ts';
export * from './contract.ts';
export { type BmcOptions, type OpenBmc, openBmcs } from './open.ts';
export { certificateOf } from './redfish/certificate.ts';
export {
  type SimulatedAccount,
  type SimulatedBmc,
  type SimulatedFailures,
  type SimulatedLine,
  type SimulatedRack,
  simulatedRack,
} from './simulated/rack.ts';
export type { RemoteRack } from './simulated/remote.ts';
export { knowsWord, type ServedBmcs, serveBmcs } from './simulated/serve.ts';
