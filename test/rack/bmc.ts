import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BmcParts, lanFile, simFile } from '../../src/demo/rack/real/bmcFiles.ts';
import { productFru } from '../../src/demo/rack/real/fru.ts';
import { type SerialRelay, startRelay } from '../../src/demo/rack/real/relay.ts';
import type { BmcConnection, BootFrom } from '../../src/drivers/bmc/index.ts';
import { until } from '../product.ts';
import { signalIfThere } from '../signal.ts';
import { programIn, surroundings } from '../unpacked.ts';
import { freePort } from '../valkey.ts';

const run = promisify(execFile);

export interface RackBmcOptions {
  /** Default: 127.0.0.1. */
  address?: string;
  /** What is behind it, as `chassis.sh` of `src/demo/rack/real` says; default: a process that stands for a server (`bmcServer.ts`). */
  server?: string;
  /** What the server is told in its environment. */
  env?: Record<string, string>;
  /** A port for the server's own side of the BMC, as QEMU's `ipmi-bmc-extern` connects to it. */
  guestPort?: number;
  /** Where it listens. Default: a port that is free. */
  port?: number;
  uuid?: string;
  serial?: string;
}

/** A real BMC of IPMI without hardware: `ipmi_sim`, behind which a server really runs or not. */
export interface RackBmc {
  connection: BmcConnection;
  /** The folder of the server: see `chassis.sh`. Its serial line is the socket `serial` there, to which the server connects. */
  run: string;
  /** What the driver needs to speak to it. */
  ipmi: { program: string; env: Record<string, string> };
  server(): Promise<{ runs: boolean; starts: BootFrom[] }>;
  /** Presses something behind the BMC's back. */
  press(...words: string[]): Promise<string>;
  /** Puts a mark there or takes it away: `says-yes`, `fail-power`, `ignores-button`. */
  mark(name: string, is: boolean): Promise<void>;
  beSilent(is: boolean): void;
  say(text: string): Promise<void>;
  typed(): Promise<string>;
  /** The number of the account that this name and password belong to; null: they let nobody in. */
  accountOf(user: string, password: string): Promise<string | null>;
  /** Runs `ipmitool` beside the driver, as another process would. */
  tool(...command: string[]): Promise<string>;
  close(): Promise<void>;
}

export const factory = { user: 'root', password: 'factory-1' };

/** Starts one, in the network that we are in. `tree` is the one of `test/rack/tree.ts`. */
export async function startBmc(tree: string, options: RackBmcOptions = {}): Promise<RackBmc> {
  const {
    address = '127.0.0.1',
    uuid = 'a1234567-89ab-4def-a123-456789abcdef',
    serial = 'R1-0001',
  } = options;
  const folder = await mkdtemp(join(tmpdir(), 'innkeeper-bmc-'));
  const port = options.port ?? (await freePort());
  const relay = await startRelay(join(folder, 'serial'));
  await mkdir(join(folder, 'state'));
  await writeFile(join(folder, 'temp'), '34');
  await writeFile(join(folder, 'fru'), productFru({ maker: 'Example', model: 'R1', serial }));
  const real = join(import.meta.dirname, '../../src/demo/rack/real');
  const chassis = join(real, 'chassis.sh');
  const files: BmcParts = {
    ...{ mac: '52:54:00:00:00:b1', password: factory.password },
    ...{ folder, address, port, uuid, chassis },
    lan: join(real, 'lan.sh'),
    serialPort: relay.port,
    guestPort: options.guestPort,
  };
  await writeFile(join(folder, 'lan.conf'), lanFile(files));
  await writeFile(join(folder, 'sim.emu'), simFile(files));
  const env = {
    ...surroundings(tree),
    ...options.env,
    ...{ RACK_RUN: folder, RACK_SERVER: options.server ?? (await cheapServer(folder)) },
  };
  const argv = [
    '-c',
    join(folder, 'lan.conf'),
    '-f',
    join(folder, 'sim.emu'),
    '-s',
    join(folder, 'state'),
    '-n',
  ];
  const sim = spawn(programIn(tree, 'ipmi_sim'), argv, { env, cwd: folder, stdio: 'ignore' });
  const bmc = handles({
    folder,
    env,
    sim,
    relay,
    chassis,
    tree,
    connection: { kind: 'ipmi', address, port, ...factory },
  });
  try {
    await until(
      () => bmc.tool('raw', '6', '1').catch(() => ''),
      (answer) => answer !== '',
      20_000,
    );
    await until(async () => relay.isConnected(), Boolean, 20_000);
    await bmc.tool('user', 'set', 'name', '3', 'guest');
    await bmc.tool('user', 'set', 'password', '3', 'guest-pass-1');
    await bmc.tool('channel', 'setaccess', '1', '3', 'privilege=3', 'ipmi=on');
    await bmc.tool('user', 'enable', '3');
  } catch (error) {
    await bmc.close();
    throw error;
  }
  return bmc;
}

interface Parts {
  folder: string;
  env: Record<string, string>;
  sim: ChildProcess;
  relay: SerialRelay;
  chassis: string;
  tree: string;
  connection: BmcConnection;
}

function handles({ folder, env, sim, relay, chassis, tree, connection }: Parts): RackBmc {
  const ipmi = { program: programIn(tree, 'ipmitool'), env: surroundings(tree) };
  const inRun = (name: string) => join(folder, name);
  const press = async (...words: string[]) => (await run(chassis, words, { env: { ...env } })).stdout;
  const bmc: RackBmc = {
    connection,
    run: folder,
    ipmi,
    press,
    async server() {
      const starts = await readFile(inRun('starts'), 'utf8').catch(() => '');
      const runs = (await press('get', 'power')).includes('power:1');
      return { runs, starts: starts.split('\n').filter(Boolean) as BootFrom[] };
    },
    async mark(name, is) {
      await (is ? writeFile(inRun(name), '') : rm(inRun(name), { force: true }));
    },
    beSilent: (is) => void sim.kill(is ? 'SIGSTOP' : 'SIGCONT'),
    // A server that has just been started listens a moment later.
    say: async (text) => void (await until(() => sayTo(inRun('say'), text), Boolean, 10_000)),
    typed: () => readFile(inRun('typed'), 'latin1').catch(() => ''),
    async accountOf(user, password) {
      const signedIn = await toolAs(user, password, 'mc', 'info').catch(() => null);
      if (signedIn === null) return null;
      const accounts = await bmc.tool('-c', 'user', 'list', '1');
      const own = accounts.split('\n').map((line) => line.split(','));
      return own.find(([, name]) => name === user)?.[0] ?? null;
    },
    tool: (...command) => toolAs(connection.user, connection.password, ...command),
    async close() {
      sim.kill('SIGCONT');
      sim.kill('SIGKILL');
      relay.close();
      const pid = Number(await readFile(inRun('pid'), 'utf8').catch(() => ''));
      if (pid > 0) signalIfThere(pid, 'SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return bmc;

  async function toolAs(user: string, password: string, ...command: string[]): Promise<string> {
    const { address, port } = connection;
    const argv = [
      '-I',
      'lanplus',
      '-C',
      '3',
      '-H',
      address,
      '-p',
      String(port),
      '-U',
      user,
      '-E',
      ...command,
    ];
    const surrounding = { ...ipmi.env, IPMI_PASSWORD: password };
    return (await run(ipmi.program, argv, { env: surrounding, timeout: 20_000 })).stdout;
  }
}

function sayTo(path: string, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.end(text, () => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

/** The stand-in for a server as the one program that `chassis.sh` calls. */
async function cheapServer(folder: string): Promise<string> {
  const file = join(folder, 'server');
  const program = join(import.meta.dirname, 'bmcServer.ts');
  await writeFile(file, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  return file;
}
