import type { Config } from '../../config.ts';
import type { GivenDrivers } from '../../drivers/index.ts';

/** A rack of the demonstration's, whatever its servers are made of. */
export interface OpenRack {
  /** Where it stands. */
  location: string;
  servers: { serial: string; mac: string }[];
  /** What its servers say that they are called. */
  model: string;
  /** The configuration of a product whose servers these are. */
  config: Config;
  /** What it reaches them by, where that is not what it would choose itself. */
  drivers: GivenDrivers;
  close(): Promise<void>;
}
