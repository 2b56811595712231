import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config.ts';
import { type OpenBmc, openBmcs } from '../../drivers/bmc/index.ts';
import type { GivenDrivers } from '../../drivers/index.ts';
import { installerFolder, treeFolders } from '../../drivers/installer/index.ts';
import type { NetbootOptions } from '../../drivers/netboot/index.ts';
import { greetsBySsh } from '../../platform/host/ssh.ts';
import { type Elsewhere, rackElsewhere } from './elsewhere.ts';
import { portOf } from './ports.ts';
import type { OpenRack } from './rack.ts';
import { type Cable, identityOf } from './racked.ts';

/**
 * Servers that are played, with simulated BMCs, for a host on which machines are simulated as well. They are another process, which is
 * started where it does not run, and goes on where the product is killed.
 */
export async function openSimulatedRack(config: Config, count: number): Promise<OpenRack> {
  const dir = join(config.dataDir, 'rack');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const rack = rackElsewhere(dir, [
    process.execPath,
    join(import.meta.dirname, 'process.ts'),
    dir,
    String(count),
  ]);
  await rack.ensure();
  const images = join(dir, 'images');
  await placeImages(images);
  // The same from start to start: an installer goes on calling whom it was told to.
  const port = await portOf(join(dir, 'port'));
  const range = { from: '127.0.0.100', to: '127.0.0.250' };
  return {
    location: config.location,
    name: 'Demo rack',
    model: 'R1',
    profile: 'Demo server',
    servers: Array.from({ length: count }, (_, at) => identityOf(at + 1)),
    config: { ...config, imagesDir: images, rack: { interface: 'lo', ...range, port } },
    drivers: driversOf(rack),
    close: async () => void (await rack.end()),
  };
}

function driversOf(rack: Elsewhere): GivenDrivers {
  const real = openBmcs();
  const isPlayed = (address: string) => address.startsWith('198.51.100.');
  const open: OpenBmc = (connection) => {
    if (!isPlayed(connection.address)) return real(connection);
    // Read each time: it is another one where it had to be started anew.
    const at = rack.place() ?? { url: 'http://127.0.0.1:9', word: '' };
    return openBmcs({ rack: at, offForMs: 500 })({ ...connection, kind: 'simulated' });
  };
  return {
    bmc: open,
    greets: async (address) =>
      (await rack.ask('GET', `/greets?address=${encodeURIComponent(address)}`)) === true ||
      (await greetsBySsh(address)),
    netboot: async (options) => cableTo(rack, options),
  };
}

/** What gives them addresses, told to whoever plays them at each change, and every two seconds all over again. */
async function cableTo(rack: Elsewhere, { script }: NetbootOptions) {
  const cable: Cable = { script, reserved: [], strangers: false };
  const tell = () => rack.ask('POST', '/cable', cable);
  await tell();
  return {
    async reserve(mac: string) {
      if (!cable.reserved.includes(mac)) cable.reserved.push(mac);
      await tell();
    },
    async release(mac: string) {
      cable.reserved = cable.reserved.filter((each) => each !== mac);
      await tell();
    },
    async reserved() {
      await tell();
      return [...cable.reserved];
    },
    async admitStrangers(are: boolean) {
      if (cable.strangers === are) return;
      cable.strangers = are;
      await tell();
    },
    close: async () => undefined,
  };
}

/** What is served to machines that nobody really starts: played servers read none of it. */
async function placeImages(dir: string): Promise<void> {
  const files = {
    ...{ [`${installerFolder}/vmlinuz`]: 'kernel', [`${installerFolder}/initrd`]: 'initrd' },
    ...{ 'ipxe/undionly.kpxe': 'ipxe' },
    ...{ 'ipxe/snponly.efi': 'ipxe', [`${treeFolders.tiny}/tree.tar.zst`]: 'tree' },
    [`${treeFolders.tiny}/sha256`]: '5a'.repeat(32),
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
}
