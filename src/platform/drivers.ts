/**
 * The outside world, as steps and live routes are handed it. What there is to talk to is for the room of drivers to
 * say: `drivers/index.ts` adds each contract here, and this floor passes them on without knowing one.
 */
// biome-ignore lint/suspicious/noEmptyInterface: its members are declared upstairs, where the contracts are
export interface Drivers {}

export type DriverName = keyof Drivers;
