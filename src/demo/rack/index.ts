/**
 * The demonstration's rack (DEMO_RACK): servers with BMCs on a network of their own, so that whoever tries the product has a dedicated server.
 * They are QEMU behind real BMCs where machines are real (`real/`), and played where they are simulated (`simulated.ts`), each in a process of its own. The product knows nothing of it: it is told which network it serves, speaks to BMCs, and its staff
 * accepts what arrives.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, ConfigError } from '../../config.ts';
import { canRunMachines, type Log } from '../../drivers/hypervisor/index.ts';
import type { GivenDrivers } from '../../drivers/index.ts';
import { lockedBy } from '../../platform/host/lock.ts';
import { putOnSale, type Staff } from './onSale.ts';
import type { OpenRack } from './rack.ts';
import { clearRealRack, openRealRack } from './real/index.ts';
import { openSimulatedRack } from './simulated.ts';

export interface DemoRack {
  /** What the product is started with. */
  config: Config;
  drivers: GivenDrivers;
  /** Has its servers enrolled and sold, which goes on in the background until it is closed. */
  sell(staff: Staff, log: Log): void;
  /** Stops selling, then the product, and then the rack; its servers are kept as they are. */
  close(stopProduct: () => Promise<void>): Promise<void>;
}

const againMs = 30_000;

/**
 * Opens it where DEMO_RACK asks for one; null without, when what is left of an earlier one that was killed is taken away. Says in words what this
 * host lacks for it, and tells `say` what is installed.
 */
export async function openDemoRack(config: Config, say: (line: string) => void): Promise<DemoRack | null> {
  // The rack is of the product that runs there, and a second one does not come to start.
  if (lockedBy(config.dataDir) !== null) return null;
  if (config.demoRack === 0) {
    if (config.role === 'all') await clearRealRack(config, say);
    return null;
  }
  if (process.platform !== 'linux')
    throw new ConfigError('DEMO_RACK needs Linux: its network is one of this host.');
  const stopping = new AbortController();
  const rack = await openRack(config, say, stopping.signal);
  let selling = Promise.resolve();
  return {
    config: rack.config,
    drivers: rack.drivers,
    sell: (staff, log) => {
      selling = sellUntilSold(rack, staff, log, stopping.signal);
    },
    close: async (stopProduct) => {
      stopping.abort(new Error('the product stops'));
      await selling;
      await stopProduct();
      await rack.close();
    },
  };
}

/** As the product runs its machines: real ones where they can run, unless it is told otherwise. */
async function openRack(
  config: Config,
  say: (line: string) => void,
  stopping: AbortSignal,
): Promise<OpenRack> {
  const played = async () => {
    await clearRealRack(config, say);
    return openSimulatedRack(config, config.demoRack);
  };
  if (config.hypervisor === 'simulator') return played();
  const host = await canRunMachines();
  if (host.ok) return openRealRack(config, config.demoRack, say, stopping);
  if (config.hypervisor === 'qemu') throw new ConfigError(`DEMO_RACK: ${host.reason}`);
  return played();
}

/** Tried again where something of it was not to be had. */
async function sellUntilSold(rack: OpenRack, staff: Staff, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    try {
      await rack.start?.(log);
      await putOnSale(rack, staff, log, signal);
      // What of it cannot be had is made for the first order, and told there.
      return await rack.prepareOrders?.(log).catch(() => undefined);
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Error ? error.message : String(error);
      log.warn({ problem }, 'the servers of the demonstration’s rack are not on sale yet');
      await delay(againMs, undefined, { signal }).catch(() => undefined);
    }
}
