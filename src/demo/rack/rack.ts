import type { Config } from '../../config.ts';
import type { Log } from '../../drivers/hypervisor/index.ts';
import type { GivenDrivers } from '../../drivers/index.ts';

/** A rack of the demonstration's, whatever its servers are made of. */
export interface OpenRack {
  /** Where it stands, what it is called, and the profile that its servers get. */
  location: string;
  name: string;
  profile: string;
  servers: { serial: string; mac: string }[];
  /** What its servers say that they are called. */
  model: string;
  /** Addresses for whoever rents them, where the location has none. */
  pool?: { name: string; network: string };
  /** What they are plugged into, where it can be read. */
  switch?: { name: string; address: string; credential: SwitchCredential };
  /** The configuration of a product whose servers these are. */
  config: Config;
  /** What it reaches them by, where that is not what it would choose itself. */
  drivers: GivenDrivers;
  /** Brings up what takes its time, once the product runs; what it says goes to its log. */
  start?(log: Log): Promise<void>;
  /** Makes ahead what the first order would wait for, once its servers are on sale. */
  prepareOrders?(log: Log): Promise<void>;
  /** Presses the switches of those that were just put in, and that nobody has switched on yet; before, they may start from the network. */
  switchOn?(serials: string[]): Promise<void>;
  close(): Promise<void>;
}

export interface SwitchCredential {
  user: string;
  auth_protocol: 'sha256';
  auth_passphrase: string;
  privacy_passphrase: string;
}
