import type { SwitchConnection } from './connection.ts';
import type { Switch } from './contract.ts';
import { SwitchError } from './failure.ts';
import { type SimulatedSwitches, simulatedSwitch } from './simulated/driver.ts';
import { snmpSwitch } from './snmp/driver.ts';

/** Opens a switch by how it is reached; nothing is said to it yet. `spec_invalid` for what could not be meant. */
export type OpenSwitch = (connection: SwitchConnection) => Switch;

/** How switches of all kinds are opened; without `simulated` there are none of that kind. Whoever opened one closes it. */
export function openSwitches(simulated?: SimulatedSwitches): OpenSwitch {
  return (connection) => {
    if (connection.kind === 'snmp') return snmpSwitch(connection);
    if (simulated === undefined)
      throw new SwitchError('spec_invalid', 'there are no simulated switches here');
    return simulatedSwitch(simulated, connection);
  };
}
