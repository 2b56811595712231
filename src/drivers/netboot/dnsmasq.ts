import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import {
  asRoot,
  type RunningProgram,
  runAsRoot,
  runProgram,
  startProgram,
} from '../../platform/host/program.ts';
import { configuration, type NetbootNetwork } from './configuration.ts';

/** What gives servers their address and their first program, for as long as it is open. */
export interface Netboot {
  /** The server with this MAC address gets this address; null: any of the range. In force at once; may be repeated. */
  reserve(mac: string, address: string | null): Promise<void>;
  /** It gets none any more. */
  release(mac: string): Promise<void>;
  /** Those that have one, by their MAC addresses. */
  reserved(): Promise<string[]>;
  /** Whether machines get an address of the range that nobody has reserved one for. */
  admitStrangers(are: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface NetbootOptions extends NetbootNetwork {
  /** Where reservations and leases are kept; they stay. */
  dir: string;
  /** The folder of iPXE's programs; see `ensureBootPrograms`. */
  programs: string;
  /** dnsmasq's own, where it is not found by its name. */
  program?: string;
  env?: Record<string, string>;
  log: { warn(message: string): void };
}

/** Opens the one of a network. Fails in words where its program does not start. */
export type OpenNetboot = (options: NetbootOptions) => Promise<Netboot>;

const pauseMs = 1_000;
/** What everybody's MAC address is like. */
const everybody = '*:*:*:*:*:*';

/** Starts dnsmasq, and starts it again when it ends. */
export async function openNetboot(options: NetbootOptions): Promise<Netboot> {
  const { dir, program = 'dnsmasq', env } = options;
  const files = {
    tftp: options.programs,
    reservations: join(dir, 'reservations'),
    leases: join(dir, 'leases'),
    pid: join(dir, 'pid'),
  };
  await runProgram([program, '--version'], { env }).catch((cause: Error) => {
    const message = `${program} does not start here, which gives servers their addresses: install the Debian package dnsmasq-base`;
    throw new Error(message, { cause });
  });
  await mkdir(files.reservations, { recursive: true });
  // Whom an earlier process admitted is not for this one to answer.
  await rm(join(files.reservations, 'everybody'), { force: true });
  const conf = join(dir, 'dnsmasq.conf');
  await writeFile(conf, configuration(options, files));
  // Whoever was killed before it could end its own leaves it, and two of them would answer every server twice.
  await endAnother(files.pid);
  let running: RunningProgram | null = null;
  let isOpen = true;
  const watched = (async () => {
    while (isOpen) {
      running = startProgram(asRoot([program, `--conf-file=${conf}`]), { env });
      running.stdout.resume();
      const why = await running.ended.then(
        () => 'it ended',
        (error: Error) => error.message,
      );
      if (!isOpen) return;
      options.log.warn(`dnsmasq is started again: ${why}`);
      await sleep(pauseMs);
    }
  })();
  // New files it sees by itself; what changed or went it reads at this signal alone.
  const reread = async () => {
    const pid = await pidIn(files.pid);
    if (pid !== null) await runAsRoot(['kill', '-HUP', `${pid}`]).catch(() => undefined);
  };
  const write = async (file: string, line: string) => {
    if ((await readFile(file, 'utf8').catch(() => null)) === line) return;
    await writeFile(`${join(dir, 'reservation')}.partial`, line);
    await rename(`${join(dir, 'reservation')}.partial`, file);
    await reread();
  };
  return {
    async reserve(mac, address) {
      const file = fileOf(files.reservations, mac);
      if (address !== null && !ipaddr.IPv4.isValidFourPartDecimal(address))
        throw new Error(`not an IPv4 address: ${address}`);
      await write(file, address === null ? `${mac}\n` : `${mac},${address}\n`);
    },
    async reserved() {
      const names = (await readdir(files.reservations)).filter((name) => /^[0-9a-f]{12}$/.test(name));
      return names.map((name) => name.replaceAll(/(..)(?!$)/g, '$1:')).sort();
    },
    async admitStrangers(are) {
      const file = join(files.reservations, 'everybody');
      if (are) return write(file, `${everybody}\n`);
      if ((await readFile(file).catch(() => null)) === null) return;
      await rm(file);
      await reread();
    },
    async release(mac) {
      await rm(fileOf(files.reservations, mac), { force: true });
      await reread();
    },
    async close() {
      isOpen = false;
      await endAnother(files.pid);
      running?.kill();
      await watched;
    },
  };
}

function fileOf(folder: string, mac: string): string {
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) throw new Error(`not a MAC address: ${mac}`);
  return join(folder, mac.replaceAll(':', ''));
}

async function pidIn(file: string): Promise<number | null> {
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  // A number that the kernel has given to something else since is not ours to end.
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return name.trim() === 'dnsmasq' ? pid : null;
}

async function endAnother(pidFile: string): Promise<void> {
  const pid = await pidIn(pidFile);
  if (pid === null) return;
  await runAsRoot(['kill', `${pid}`]).catch(() => undefined);
  for (let tries = 0; tries < 50 && (await pidIn(pidFile)) !== null; tries++) await sleep(100);
}
