/**
 * Servers that somebody can log in to: QEMU behind `ipmi_sim`, plugged into a bridge of which `snmpd` tells, in a network namespace of their own.
 * They start from the network that the product serves, and are enrolled, installed and switched as real ones are: nothing but this folder knows better.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, ConfigError } from '../../../config.ts';
import { openBmcs } from '../../../drivers/bmc/index.ts';
import { accelerationProbe, hostPackages, type Log } from '../../../drivers/hypervisor/index.ts';
import { ensureInstaller, ensureTree } from '../../../drivers/installer/index.ts';
import { openNetboot } from '../../../drivers/netboot/index.ts';
import { writeDurably } from '../../../platform/host/durable.ts';
import { ensurePackages } from '../../../platform/host/packages.ts';
import { asRoot, untilAborted } from '../../../platform/host/program.ts';
import { type Elsewhere, rackElsewhere } from '../elsewhere.ts';
import { portOf } from '../ports.ts';
import type { OpenRack, SwitchCredential } from '../rack.ts';
import { serversIn } from './built.ts';
import { endOf, hasLeft, planLeft, untilEnded } from './left.ts';
import { ensureNetwork, ensurePlan } from './network.ts';
import { memoryMib, model, mostServers, placesIn, serverOf } from './plan.ts';
import { ensureRackPrograms, rackProgram } from './programs.ts';
import { hardwareMark } from './server.ts';

const lookMs = 5_000;

/**
 * Opens it on a host that can run machines. A `ConfigError` says where so many servers do not fit, or their network. What it fetches and waits for it
 * gives up once `stopping` is.
 */
export async function openRealRack(
  config: Config,
  count: number,
  say: (line: string) => void,
  stopping: AbortSignal,
): Promise<OpenRack> {
  const dir = realRackDir(config);
  const all = serversIn(dir, count);
  const hostMib = Math.floor(totalmem() / 2 ** 20);
  const most = mostServers(hostMib);
  if (all > most)
    throw new ConfigError(
      `DEMO_RACK has ${all} servers, and this host has room for ${most}: each server takes ${memoryMib} MiB of its ${hostMib} MiB of memory, of which 2 GiB are left to all else. HYPERVISOR=simulator has simulated ones, which take none.`,
    );
  await ensurePackages(
    hostPackages.filter((wanted) => wanted.use === 'start'),
    say,
  );
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const plan = await ensurePlan(dir);
  const { range, customers, switch: address } = placesIn(plan);
  const argv = [
    'ip',
    'netns',
    'exec',
    plan.namespace,
    process.execPath,
    join(import.meta.dirname, 'process.ts'),
  ];
  const prepare = async () => {
    await untilEnded(plan, rack);
    await ensureNetwork(plan, all);
  };
  const rack = rackElsewhere(dir, asRoot([...argv, dir, String(count)]), prepare);
  // One that goes on since the product was killed hears from here on that somebody has it again, and one that ends is not in the way of the next.
  const goesOn = await rack.isThere();
  await (goesOn ? ensureNetwork(plan, all) : prepare());
  const closing = new AbortController();
  let watching = goesOn ? watch(rack, closing.signal) : null;
  const prepared = onceIn(() => untilAborted(stopping, () => ensureRackPrograms(dir)));
  // A mistake here is told by whoever waits for it.
  prepared().catch(() => undefined);
  return {
    // Of its own: addresses of others lead to other machines of this host.
    location: config.location === 'RACK' ? 'RACK-2' : 'RACK',
    name: 'Demo rack of QEMU',
    model,
    profile: 'Demo server of QEMU',
    servers: Array.from({ length: count }, (_, at) => serverOf(at + 1, plan)),
    pool: { name: 'Demo rack', network: customers },
    switch: { name: 'demo-switch', address, credential: await switchCredential(dir) },
    config: {
      ...config,
      rack: { interface: plan.cable, ...range, port: await portOf(join(dir, 'port')) },
      // ipmi_sim lets in by cipher suite 0, and cannot be told not to. BMCs of other servers are held to what they should be.
      insecureBmcs: [...config.insecureBmcs, `${plan.subnet}0/24`],
    },
    drivers: {
      bmc: openBmcs({ ipmi: { program: rackProgram(dir, 'ipmitool') } }),
      async netboot(options) {
        await prepared();
        return openNetboot({ ...options, program: rackProgram(dir, 'dnsmasq') });
      },
    },
    async start(log) {
      await unlessAborted(prepared(), stopping);
      const noted = untilAborted(stopping, () => noteAcceleration(config, dir, log));
      await unlessAborted(noted, stopping);
      await unlessAborted(rack.ensure().then(), stopping);
      watching ??= watch(rack, closing.signal, log);
    },
    async prepareOrders(log) {
      await untilAborted(stopping, () => ensureTree(imagesOf(config), 'tiny', (line) => log.info({}, line)));
    },
    async switchOn(serials) {
      await rack.ask('POST', '/on', { serials });
    },
    async close() {
      closing.abort();
      await watching;
      await endOf(plan, rack);
    },
  };
}

/** Takes away what a product that was killed has left of it, for one that has none. */
export async function clearRealRack(config: Config, say: (line: string) => void): Promise<void> {
  const dir = realRackDir(config);
  const plan = planLeft(dir);
  if (plan === null || !hasLeft(plan)) return;
  say('ending what is left of the demonstration’s rack of QEMU');
  await endOf(plan, rackElsewhere(dir, []));
}

/** Absolute: it is handed to programs that stand elsewhere. */
function realRackDir({ dataDir }: Config): string {
  return join(dataDir, 'rack-qemu');
}

/** The same while it goes on, and anew when it failed. */
function onceIn(work: () => Promise<void>): () => Promise<void> {
  let going: Promise<void> | null = null;
  return () => {
    going ??= work().catch((error: Error) => {
      going = null;
      throw error;
    });
    return going;
  };
}

/** What takes long is not waited for by whoever stops. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  await Promise.race([work, aborted]);
}

/** Where the product has what servers start and are installed with. */
function imagesOf({ imagesDir, dataDir }: Config): string {
  return imagesDir ?? join(dataDir, 'servers');
}

/** What it takes to read the switch, made once. */
async function switchCredential(dir: string): Promise<SwitchCredential> {
  const file = join(dir, 'switch.json');
  const word = () => randomBytes(18).toString('hex');
  if (!existsSync(file)) {
    const made = {
      user: 'innkeeper',
      auth_protocol: 'sha256',
      auth_passphrase: word(),
      privacy_passphrase: word(),
    };
    await writeDurably(file, JSON.stringify(made));
  }
  return JSON.parse(readFileSync(file, 'utf8')) as SwitchCredential;
}

/** Machines say how they run, and servers run in the same way. */
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Servers that start from now on run by the CPU itself where that works, as machines do. */
async function noteAcceleration(config: Config, dir: string, log: Log): Promise<void> {
  const kernel = async () => (await ensureInstaller(imagesOf(config), (line) => log.info({}, line))).kernel;
  const found = await accelerationProbe(join(config.dataDir, 'hypervisor'), silent).settle(kernel);
  const mark = join(dir, hardwareMark);
  await (found === 'hardware' ? writeFile(mark, '') : rm(mark, { force: true }));
}

/** Speaks to its process, which would end otherwise, and starts it again where it was killed. */
async function watch(rack: Elsewhere, signal: AbortSignal, log: Log = silent): Promise<void> {
  while (!signal.aborted) {
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await rack
      .ask('GET', '/')
      .catch((error: Error) =>
        log.warn({ problem: error.message }, 'the demonstration’s rack does not answer'),
      );
  }
}
