import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { DataDir } from '../../platform/host/dataDir.ts';
import { ensurePackages } from '../../platform/host/packages.ts';
import type { Logger } from '../../platform/index.ts';
import type { Hypervisor, Progress } from './contract.ts';
import { canRunMachines, hostPackages } from './host.ts';
import { qemuHypervisor } from './qemu/driver.ts';
import type { BridgeOptions } from './qemu/options.ts';
import { simulatedHypervisor } from './simulator/driver.ts';
import { storeInFile } from './simulator/store.ts';

/** The host that machines run on, and the networks they are plugged into. */
export interface Host {
  config: Config;
  log: Logger;
  data: DataDir;
  /** Addresses of the bridge, as `address/prefix`. The list may grow; `prepare` puts the new ones in place. */
  gateways: string[];
  say: Progress;
}

/** The hypervisor of this host, by the setting HYPERVISOR: real machines where they can run, else the simulator. */
export async function openHypervisor({ config, log, data, gateways, say }: Host): Promise<Hypervisor> {
  const host = config.hypervisor === 'simulator' ? null : await canRunMachines();
  if (host?.ok === false && config.hypervisor === 'qemu') throw new Error(host.reason);
  if (host?.ok !== true) {
    say(`no real machines here, they are simulated: ${host?.reason ?? 'HYPERVISOR=simulator'}`);
    // Its machines outlive the product, as real ones do.
    const store = storeInFile(join(data.dir, 'simulator.json'));
    return simulatedHypervisor({ store, delaysMs: { boot: 500 } });
  }
  await ensurePackages(
    hostPackages.filter((wanted) => wanted.use === 'start'),
    say,
  );
  return qemuHypervisor({
    dir: join(data.dir, 'hypervisor'),
    runDir: data.runDir,
    bridge: bridgeOf(config, gateways),
    diskLimits: config.diskLimits,
    netbootUrl: config.netbootUrl,
    log,
    ...(config.imagesDir === null ? {} : { imagesDir: config.imagesDir }),
  });
}

/** The bridge that the settings ask for. */
export function bridgeOf(config: Config, gateways: string[]): BridgeOptions {
  return {
    ...{ name: config.bridge, addresses: gateways, nat: config.nat },
    reach: { networks: config.guestNetworks, ports: config.guestPorts },
    ...(config.guestConnections === null ? {} : { connections: { toGuest: config.guestConnections } }),
  };
}
