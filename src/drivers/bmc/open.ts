import { type BmcConnection, checkConnection } from './connection.ts';
import type { Bmc } from './contract.ts';
import type { BmcControls } from './controls.ts';
import { BmcError } from './failure.ts';
import { ipmiControls } from './ipmi/controls.ts';
import type { IpmiProgram } from './ipmi/program.ts';
import { type ProvenOptions, provenBmc } from './proven.ts';
import { redfishControls } from './redfish/controls.ts';
import { simulatedControls } from './simulated/controls.ts';
import type { SimulatedRack } from './simulated/rack.ts';
import { type RemoteRack, remoteControls } from './simulated/remote.ts';

/** Opens a BMC by how it is reached; nothing is said to it yet. `spec_invalid` for what could not be meant. */
export type OpenBmc = (connection: BmcConnection) => Bmc;

export interface BmcOptions extends ProvenOptions {
  /** Where BMCs of the kind `simulated` are, in this process or another; without it there are none. */
  rack?: SimulatedRack | RemoteRack;
  /** How IPMI is spoken. Default: `ipmitool`, as Debian installs it. */
  ipmi?: IpmiProgram;
}

/** How BMCs of all kinds are opened. Whoever opened one closes it. */
export function openBmcs(options: BmcOptions = {}): OpenBmc {
  return (connection) => {
    checkConnection(connection);
    return provenBmc(controlsOf(connection, options), connection, options);
  };
}

function controlsOf(connection: BmcConnection, { rack, ipmi = {} }: BmcOptions): BmcControls {
  switch (connection.kind) {
    case 'ipmi':
      return ipmiControls(connection, ipmi);
    case 'simulated':
      if (rack === undefined) throw new BmcError('spec_invalid', 'there is no simulated rack here');
      return 'url' in rack ? remoteControls(rack, connection) : simulatedControls(rack, connection);
    case 'redfish':
      return redfishControls(connection, ipmi);
  }
}
