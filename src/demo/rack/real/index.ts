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
import { ensureInstaller } from '../../../drivers/installer/index.ts';
import { openNetboot } from '../../../drivers/netboot/index.ts';
import { writeDurably } from '../../../platform/host/durable.ts';
import { ensurePackages } from '../../../platform/host/packages.ts';
import { asRoot } from '../../../platform/host/program.ts';
import { type Elsewhere, rackElsewhere } from '../elsewhere.ts';
import { portOf } from '../ports.ts';
import type { OpenRack, SwitchCredential } from '../rack.ts';
import { serversIn } from './built.ts';
import { ensureNetwork, ensurePlan, processesIn, removeNetwork } from './network.ts';
import { memoryMib, model, mostServers, type Plan, placesIn, serverOf } from './plan.ts';
import { ensureRackPrograms, rackProgram } from './programs.ts';
import { hardwareMark } from './server.ts';

const lookMs = 5_000;
/** It takes the power of its servers in less. */
const endsWithinMs = 12_000;

/** Opens it on a host that can run machines. A `ConfigError` says where so many servers do not fit. */
export async function openRealRack(
  config: Config,
  count: number,
  say: (line: string) => void,
): Promise<OpenRack> {
  // Absolute: it is handed to programs that stand elsewhere.
  const dir = join(config.dataDir, 'rack-qemu');
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
  await ensureNetwork(plan, all);
  const { range, customers, switch: address } = placesIn(plan);
  const argv = [
    'ip',
    'netns',
    'exec',
    plan.namespace,
    process.execPath,
    join(import.meta.dirname, 'process.ts'),
  ];
  const rack = rackElsewhere(dir, asRoot([...argv, dir, String(count)]));
  const prepared = onceIn(() => ensureRackPrograms(dir));
  // A mistake here is told by whoever waits for it.
  prepared().catch(() => undefined);
  const stopping = new AbortController();
  let watching: Promise<void> | null = null;
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
    async start(log, signal) {
      await unlessAborted(prepared(), signal);
      await unlessAborted(noteAcceleration(config, dir, log), signal);
      await rack.ensure();
      watching ??= watch(rack, log, stopping.signal);
    },
    async switchOn(serials) {
      await rack.ask('POST', '/on', { serials });
    },
    async close() {
      stopping.abort();
      await watching;
      await rack.end();
      await endOf(plan);
    },
  };
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
  const images = config.imagesDir ?? join(config.dataDir, 'servers');
  const kernel = async () => (await ensureInstaller(images, (line) => log.info({}, line))).kernel;
  const found = await accelerationProbe(join(config.dataDir, 'hypervisor'), silent).settle(kernel);
  const mark = join(dir, hardwareMark);
  await (found === 'hardware' ? writeFile(mark, '') : rm(mark, { force: true }));
}

/** Speaks to its process, which would end otherwise, and starts it again where it was killed. */
async function watch(rack: Elsewhere, log: Log, signal: AbortSignal): Promise<void> {
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

async function endOf(plan: Plan): Promise<void> {
  for (const end = performance.now() + endsWithinMs; performance.now() < end; await delay(100))
    if ((await processesIn(plan.namespace)).length === 0) break;
  await removeNetwork(plan);
}
