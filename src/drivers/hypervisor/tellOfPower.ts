import type { MachineEvent } from './contract.ts';
import type { Log } from './log.ts';

/** Tells everybody who watches a node's machines, and the log, of a change of power. One who fails keeps it from nobody else. */
export function tellOfPower(
  event: MachineEvent,
  listeners: Iterable<(event: MachineEvent) => void>,
  log: Log,
): void {
  const { id: machine, power, cause } = event;
  log.info({ machine, power, cause }, 'A machine changed its power state');
  for (const listener of listeners) {
    try {
      listener(event);
    } catch (error) {
      log.error({ machine, error }, 'A listener of machine events failed');
    }
  }
}
