/**
 * The demonstration's rack (DEMO_RACK): servers with BMCs on a network of their own, so that whoever tries the product has a dedicated server.
 * They are played by a process of its own (`process.ts`). The product knows nothing of it: it is told which network it serves, speaks to BMCs, and its staff
 * accepts what arrives.
 */
import { type Config, ConfigError } from '../../config.ts';
import type { GivenDrivers } from '../../drivers/index.ts';
import { putOnSale, type Staff } from './onSale.ts';
import { openSimulatedRack } from './simulated.ts';

export interface DemoRack {
  /** What the product is started with. */
  config: Config;
  drivers: GivenDrivers;
  /** Has its servers enrolled and sold, which goes on in the background until it is closed. */
  sell(staff: Staff, log: Parameters<typeof putOnSale>[2]): void;
  /** Stops selling, then the product, and then the rack; its servers are kept as they are. */
  close(stopProduct: () => Promise<void>): Promise<void>;
}

/** Opens it where DEMO_RACK asks for one; null without. Says in words what this host lacks for it. */
export async function openDemoRack(config: Config): Promise<DemoRack | null> {
  if (config.demoRack === 0) return null;
  if (process.platform !== 'linux')
    throw new ConfigError('DEMO_RACK needs Linux: its network is one of this host.');
  const rack = await openSimulatedRack(config, config.demoRack);
  const stopping = new AbortController();
  let selling = Promise.resolve();
  return {
    config: rack.config,
    drivers: rack.drivers,
    sell: (staff, log) => {
      selling = putOnSale(rack, staff, log, stopping.signal).catch((error: Error) => {
        if (!stopping.signal.aborted)
          log.warn({ problem: error.message }, 'the servers of the demonstration’s rack are not on sale');
      });
    },
    close: async (stopProduct) => {
      stopping.abort();
      await selling;
      await stopProduct();
      await rack.close();
    },
  };
}
