import fs from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runAsRoot, runProgram } from '../src/platform/host/program.ts';
import { signalIfThere } from './signal.ts';

/**
 * A network of its own for one test run. Bridges, taps, addresses and packet rules that tests make are made
 * in it and vanish with it; the machine that tests run on keeps its network as it was.
 */
export interface Namespace {
  name: string;
  /** Argument vector that runs `argv` inside, as the user we are, with the environment of the call. */
  enter(argv: readonly string[], env: NodeJS.ProcessEnv): string[];
  /** Ends every process still inside or of this run, then removes the namespace. */
  close(): Promise<void>;
}

/** In the environment of everything a run starts, so that what it left behind can be told from the rest. */
export const runMark = 'INNKEEPER_TEST_RUN';

const prefix = 'innkeeper-test-';
const isRoot = process.getuid?.() === 0;

/** Makes a namespace in which bridges, taps and packet rules work. Fails, leaving nothing, where they do not. */
export async function openNamespace(): Promise<Namespace> {
  await runAsRoot(['true']).catch((error: unknown) => {
    throw new Error('a network of its own takes root, or sudo without a password', { cause: error });
  });
  await sweepAbandoned();
  const name = `${prefix}${process.pid}`;
  const close = () => closeNamespace(name);
  try {
    await runAsRoot(['ip', 'netns', 'add', name]);
    await runAsRoot(['ip', '-n', name, 'link', 'set', 'lo', 'up']);
    await probe(name);
  } catch (error) {
    await close();
    throw error;
  }
  return { name, enter: (argv, env) => enter(name, argv, env), close };
}

/** What machines need of a network, tried out: a kernel or a container may allow one and not the other. */
async function probe(name: string): Promise<void> {
  const inside = (...argv: string[]) => runAsRoot(['ip', 'netns', 'exec', name, ...argv]);
  await inside('ip', 'link', 'add', 'probe-br', 'type', 'bridge');
  await inside('ip', 'tuntap', 'add', 'dev', 'probe-tap', 'mode', 'tap');
  await inside('ip', 'link', 'set', 'probe-tap', 'master', 'probe-br');
  await inside('nft', 'add table bridge probe; delete table bridge probe');
  await inside('ip', 'link', 'delete', 'probe-tap');
  await inside('ip', 'link', 'delete', 'probe-br');
}

function enter(name: string, argv: readonly string[], env: NodeJS.ProcessEnv): string[] {
  if (isRoot) return ['ip', 'netns', 'exec', name, ...argv];
  // sudo would drop the environment, and puts its own PATH in place of ours even when told to keep it.
  const names = Object.keys(env).filter((key) => /^\w+$/.test(key));
  return [
    ...['sudo', '-n', `--preserve-env=${names.join(',')}`, 'ip', 'netns', 'exec', name],
    ...['setpriv', `--reuid=${process.getuid?.()}`, `--regid=${process.getgid?.()}`, '--init-groups', '--'],
    ...['env', `PATH=${env.PATH ?? ''}`, ...argv],
  ];
}

async function closeNamespace(name: string): Promise<void> {
  // Ending root's processes takes root: this file, run as a program, does the rest.
  if (!isRoot) return void (await runAsRoot([process.execPath, import.meta.filename, name]));
  for (const [signal, patienceMs] of [
    ['SIGTERM', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    const deadline = Date.now() + patienceMs;
    for (const pid of await processesOf(name)) signalIfThere(pid, signal);
    while ((await processesOf(name)).length > 0 && Date.now() < deadline) await sleep(50);
  }
  await runProgram(['ip', 'netns', 'delete', name]).catch(() => undefined); // it may never have come to be
}

/** Processes inside, and those that tests moved to namespaces further in: these still carry the mark. */
async function processesOf(name: string): Promise<number[]> {
  const inside = await runProgram(['ip', 'netns', 'pids', name]).catch(() => ({ stdout: '' }));
  const found = new Set(inside.stdout.split('\n').filter(Boolean));
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await fs.readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`${runMark}=${name}`)) found.add(pid);
  }
  return [...found].map(Number).filter((pid) => pid !== process.pid);
}

/** Removes what runs left that were killed before they could: their process is gone, their namespace is not. */
async function sweepAbandoned(): Promise<void> {
  const { stdout } = await runProgram(['ip', 'netns', 'list']);
  for (const [, name, pid] of stdout.matchAll(new RegExp(`^(${prefix}(\\d+))`, 'gm'))) {
    const alive = await fs.access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!alive && name) await closeNamespace(name);
  }
}

if (import.meta.main) await closeNamespace(process.argv[2] ?? '');
