import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootScriptFor, type Installer, installerOf } from '../../src/demo/rack/installer.ts';
import { certificateOf, openBmcs, type SimulatedBmc, simulatedRack } from '../../src/drivers/bmc/index.ts';
import { installerFolder, treeFolders } from '../../src/drivers/installer/index.ts';
import type { Netboot, NetbootOptions } from '../../src/drivers/netboot/index.ts';
import { openSwitches, type SimulatedSwitches, simulatedSwitches } from '../../src/drivers/switch/index.ts';
import { startTestProduct, type TestProduct, until } from '../product.ts';
import { hasty } from './hasty.ts';

/** A product that serves a network of servers over loopback, without dnsmasq and without an installer that anybody could start. */
export interface ArrivingProduct {
  product: TestProduct;
  /** Who gets an address there. */
  addresses: { reserved: Set<string>; strangers: boolean };
  /** What its machines are plugged into. */
  switches: SimulatedSwitches;
  /** Where a server greets by SSH. */
  greets: Set<string>;
  /** What BMCs present that speak Redfish, by their address. */
  certificates: Map<string, string>;
  /** Puts a BMC of the kind that enrolment speaks to at an address. */
  bmcAt(address: string): SimulatedBmc;
  /** What a machine with this MAC is told to start. It asks from an address of its own, or from `remote`. */
  starts(mac: string, remote?: string): Promise<string>;
  /** The program of our installer, as a machine runs it that started with this script. */
  installer(script: string): Installer;
}

/** Starts one. Its BMCs are simulated, whatever they say that they speak, and waited for so long at most. */
export async function startArrivingProduct(
  env: Record<string, string> = {},
  waitsMs: number | null = null,
): Promise<ArrivingProduct> {
  const images = await mkdtemp(join(tmpdir(), 'innkeeper-images-'));
  const files = [
    ...[`${installerFolder}/vmlinuz`, `${installerFolder}/initrd`, 'ipxe/snponly.efi'],
    ...['tree.tar.zst', 'sha256'].map((name) => `${treeFolders.tiny}/${name}`),
  ];
  for (const name of files) {
    await mkdir(join(images, name, '..'), { recursive: true });
    await writeFile(join(images, name), name.endsWith('sha256') ? '5a'.repeat(32) : name);
  }
  const rack = simulatedRack();
  const simulated = openBmcs({ rack, offForMs: 0 });
  const open = waitsMs === null ? simulated : hasty(simulated, waitsMs);
  const switches = simulatedSwitches();
  const openSwitch = openSwitches(switches);
  const greets = new Set<string>();
  const certificates = new Map<string, string>();
  const addresses = { reserved: new Set<string>(), strangers: false };
  let served: NetbootOptions | null = null;
  const product = await startTestProduct({
    env: {
      ...{ HYPERVISOR: 'simulator', IMAGES_DIR: images, RACK_INTERFACE: 'lo', RACK_PORT: '0' },
      ...{ RACK_ADDRESSES: '127.0.0.100-127.0.0.200', ...env },
    },
    drivers: {
      bmc: (connection) => open({ ...connection, kind: 'simulated' }),
      bmcCertificate: async (address, port) => certificates.get(address) ?? certificateOf(address, port),
      greets: async (address) => greets.has(address),
      switch: (connection) => openSwitch({ ...connection, kind: 'simulated' }),
      netboot: async (options) => {
        served = options;
        return netbootInMemory(addresses);
      },
    },
  });
  const options = await until(
    async () => served,
    (found) => found !== null,
  );
  await until(
    () => product.staff.get('/staff/enrolment'),
    ({ body }) => body.data.enrolment.networks[0]?.is_served === true,
  );
  return {
    ...{ product, addresses, switches, greets, certificates },
    bmcAt: (address) => rack.put(address, { power: 'on' }),
    starts: (mac, remote) => bootScriptFor(options?.script ?? '', mac, remote),
    installer: installerOf,
  };
}

function netbootInMemory(addresses: ArrivingProduct['addresses']): Netboot {
  return {
    reserve: async (mac) => void addresses.reserved.add(mac),
    release: async (mac) => void addresses.reserved.delete(mac),
    reserved: async () => [...addresses.reserved],
    admitStrangers: async (are) => {
      addresses.strangers = are;
    },
    close: async () => undefined,
  };
}
