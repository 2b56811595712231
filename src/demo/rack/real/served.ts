import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomPassword } from '../../../drivers/bmc/index.ts';
import { runProgram, startProgram } from '../../../platform/host/program.ts';
import { type BmcParts, lanFile, simFile } from './bmcFiles.ts';
import { productFru } from './fru.ts';
import { model, type RackServer } from './plan.ts';
import { inShell, rackProgram } from './programs.ts';
import { startRelay } from './relay.ts';
import { buildServer } from './server.ts';

/** A server with its BMC, in the network that we are in. */
export interface ServedServer {
  serial: string;
  runs(): boolean;
  /** Whether its power was on when whoever had it last ended, and is not any more. */
  wasCutOff: boolean;
  /** Presses the switch; nothing happens where it is on. */
  on(): Promise<void>;
  /** Presses the power button. */
  button(): Promise<void>;
  /** Notes where it has switched itself off. */
  look(): void;
}

const againMs = 1_000;

/**
 * Builds a server where it is not there, and has its BMC answer until `signal`. One that runs goes on: `isOurs` says whether a process is of
 * this rack, since its number may be another's after the host has started anew.
 */
export async function serveServer(
  dir: string,
  server: RackServer,
  isOurs: (pid: number) => boolean,
  signal: AbortSignal,
): Promise<ServedServer> {
  const folder = join(dir, server.serial);
  const program = await buildServer(folder, server);
  const pidFile = join(folder, 'pid');
  const before = numberIn(pidFile);
  const wasCutOff = before !== null && !(isOurs(before) && isAlive(before));
  if (wasCutOff) rmSync(pidFile, { force: true });
  const env = { RACK_RUN: folder, RACK_SERVER: program };
  const press = async (...words: string[]) => {
    await runProgram([join(import.meta.dirname, 'chassis.sh'), ...words], { env });
  };
  await startRelay(server.ports.serial, server.ports.bmcSerial);
  void keepRunning(await prepareBmc(dir, folder, server), env, signal);
  const pid = () => numberIn(pidFile);
  return {
    serial: server.serial,
    wasCutOff,
    runs: () => isAlive(pid()),
    on: () => press('set', 'power', '1'),
    button: () => press('set', 'shutdown', '1'),
    look() {
      const seen = pid();
      if (seen !== null && !isAlive(seen) && pid() === seen) rmSync(pidFile, { force: true });
    },
  };
}

/** Writes down what its BMC is; what that was told since is in the folder `state`. Returns what starts it. */
async function prepareBmc(dir: string, folder: string, server: RackServer): Promise<string[]> {
  await mkdir(join(folder, 'state'), { recursive: true });
  const { address, mac } = server.bmc;
  // Called in its folder, as a path may have in it what ends a word of its files.
  for (const name of ['chassis', 'lan']) {
    const script = inShell(join(import.meta.dirname, `${name}.sh`));
    await writeFile(join(folder, name), `#!/bin/sh\nunset LD_LIBRARY_PATH\nexec ${script} "$@"\n`);
    await chmod(join(folder, name), 0o755);
  }
  const parts: BmcParts = {
    ...{ folder: '.', address, mac, port: 623, uuid: server.uuid, chassis: './chassis', lan: './lan' },
    ...{ serialPort: server.ports.bmcSerial, guestPort: server.ports.bus },
    // Nobody's: our account is given to it from inside.
    password: randomPassword(),
  };
  await writeFile(join(folder, 'temp'), '34');
  await writeFile(join(folder, 'fru'), productFru({ maker: 'Innkeeper', model, serial: server.serial }));
  await writeFile(join(folder, 'lan.conf'), lanFile(parts), { mode: 0o600 });
  await writeFile(join(folder, 'sim.emu'), simFile(parts));
  const files = ['-c', 'lan.conf', '-f', 'sim.emu', '-s', 'state', '-n'];
  return ['env', '-C', folder, rackProgram(dir, 'ipmi_sim'), ...files];
}

/** Starts a program, and starts it again when it ends. */
export async function keepRunning(
  argv: readonly string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const running = startProgram(argv, { env });
    running.stdout.resume();
    await running.ended.catch((error: Error) => signal.aborted || console.error(error.message));
    await delay(againMs, undefined, { signal }).catch(() => undefined);
  }
}

function numberIn(file: string): number | null {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** One that is dead and that nobody has buried yet does not run. */
function isAlive(pid: number | null): boolean {
  if (pid === null) return false;
  try {
    return /^State:\s*[^ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
