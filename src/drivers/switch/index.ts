/**
 * What servers are plugged into: ports with what went through them, and at which a MAC was heard. One contract (`contract.ts`) and the suite
 * that all engines pass (`conformance.ts`); `traffic.ts` makes traffic of two readings of counters that turn over, begin anew or are gone.
 */
export { type AuthProtocol, authProtocols, type SwitchConnection } from './connection.ts';
export * from './contract.ts';
export { lackOf } from './lacks.ts';
export { type OpenSwitch, openSwitches } from './open.ts';
export { type SimulatedSwitch, type SimulatedSwitches, simulatedSwitches } from './simulated/driver.ts';
export { type Counted, type Traffic, trafficBetween } from './traffic.ts';
