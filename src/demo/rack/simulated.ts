import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { type OpenBmc, openBmcs, type RemoteRack } from '../../drivers/bmc/index.ts';
import type { GivenDrivers } from '../../drivers/index.ts';
import { installerFolder } from '../../drivers/installer/index.ts';
import type { NetbootOptions } from '../../drivers/netboot/index.ts';
import { startDetached } from '../../platform/host/program.ts';
import { greetsBySsh } from '../../platform/host/ssh.ts';
import type { OpenRack } from './rack.ts';
import { type Cable, identityOf } from './racked.ts';

/** Where its process is, as it says itself. */
type Place = RemoteRack & { pid: number };

const startsWithinMs = 20_000;

/**
 * Servers that are played, with simulated BMCs, for a host on which machines are simulated as well. They are another process, which is
 * started where it does not run, and goes on where the product is killed.
 */
export async function openSimulatedRack(config: Config, count: number): Promise<OpenRack> {
  const dir = join(config.dataDir, 'rack');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const rack = playedElsewhere(dir, count);
  await rack.ensure();
  const images = join(dir, 'images');
  await placeImages(images);
  // The same from start to start: an installer goes on calling whom it was told to.
  const port = await portOf(join(dir, 'port'));
  const range = { from: '127.0.0.100', to: '127.0.0.250' };
  return {
    location: config.location,
    model: 'R1',
    servers: Array.from({ length: count }, (_, at) => identityOf(at + 1)),
    config: { ...config, imagesDir: images, rack: { interface: 'lo', ...range, port } },
    drivers: driversOf(rack),
    close: () => rack.end(),
  };
}

interface Elsewhere {
  /** Starts it where it does not run. */
  ensure(): Promise<Place>;
  /** Asks it something, and starts it first where it does not run; what it answers. */
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown>;
  place(): Place | null;
  end(): Promise<void>;
}

function playedElsewhere(dir: string, count: number): Elsewhere {
  const file = join(dir, 'place.json');
  const place = () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Place) : null);
  const answers = async (at: Place | null) =>
    at !== null && (await send(at, 'GET', '/greets').then(Boolean, () => false));
  const ensure = async () => {
    const before = place();
    if (before !== null && (await answers(before))) return before;
    await rm(file, { force: true });
    const argv = [process.execPath, join(import.meta.dirname, 'process.ts'), dir, String(count)];
    startDetached(argv, join(dir, 'log'));
    for (const end = performance.now() + startsWithinMs; performance.now() < end; await delay(50)) {
      const now = place();
      if (now !== null && (await answers(now))) return now;
    }
    throw new Error('the rack of simulated servers did not start');
  };
  let starting: Promise<Place> | null = null;
  const ensureOnce = () => {
    starting ??= ensure().finally(() => {
      starting = null;
    });
    return starting;
  };
  return {
    place,
    ensure: ensureOnce,
    async ask(method, path, body) {
      const at = place() ?? (await ensureOnce());
      const said = await send(at, method, path, body).catch(async () =>
        send(await ensureOnce(), method, path, body),
      );
      return said.json();
    },
    async end() {
      const at = place();
      if (at !== null) await send(at, 'POST', '/end', {}).catch(() => undefined);
      await rm(file, { force: true });
    },
  };
}

async function send({ url, word }: Place, method: string, path: string, body?: object): Promise<Response> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${word}` },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  });
  if (!answer.ok) throw new Error(`the rack of simulated servers answered ${answer.status}`);
  return answer;
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
    ...{ 'ipxe/snponly.efi': 'ipxe', 'tree-tiny/tree.tar.zst': 'tree', 'tree-tiny/sha256': '5a'.repeat(32) },
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
}

async function portOf(file: string): Promise<number> {
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
  const port = await twoFreePorts();
  await writeFile(file, String(port));
  return port;
}

/** One and the one after it, below those that are given out by themselves. */
async function twoFreePorts(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 20_000 + 2 * Math.floor(Math.random() * 6_000);
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
  throw new Error('no two ports in a row are free on this host');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
