import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Demo } from '../src/demo/index.ts';
import { until } from './product.ts';

/** The product as a user starts it: a process of its own. */
export interface Child {
  /** Where it answers, without `/api`; a worker answers its probes there. */
  url: string;
  pid: number;
  /** The demonstration company; fails where DATA_DIR has none. */
  readonly demo: Demo;
  /** Everything it has printed so far, its log included. */
  output(): string;
  /** Ends it and waits. SIGTERM asks, SIGKILL is the power going. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Resolves once it has ended, by itself or not, with the signal that ended it, if one did. */
  gone: Promise<NodeJS.Signals | null>;
  /** Whether it has. */
  isGone(): boolean;
}

const root = path.join(import.meta.dirname, '..');

/**
 * What Node is told to run the product. What a start makes is mostly kept: with more room for what is new it is not copied from
 * one small half of it to the other again and again, a seventh of the time.
 */
export const productArgv: readonly string[] = argvOf(root);

function argvOf(folder: string): string[] {
  return ['--min-semi-space-size=16', path.join(folder, 'src/main.ts')];
}

/** A process that ended before it was ready; `signal` ended it, if one did. */
export class DidNotStart extends Error {
  readonly signal: NodeJS.Signals | null;

  constructor(printed: string, signal: NodeJS.Signals | null) {
    super(`the product did not start:\n${printed}`);
    this.signal = signal;
  }
}

/**
 * Starts `src/main.ts` on a port of its own and waits until it says that it is ready; `folder` has another version of it, and `inside` makes
 * the argument vector that it is run by. Without the dashboard: each start would look at all that it is made of, and those that come first
 * after a change would build it side by side, as often as there are of them. Throws `DidNotStart` when it ends before it is ready.
 */
export async function startChild(
  dataDir: string,
  env: Record<string, string> = {},
  timeoutMs = 120_000,
  folder = root,
  inside: (argv: readonly string[]) => string[] = (argv) => [...argv],
): Promise<Child> {
  const [command = '', ...argv] = inside([process.execPath, ...argvOf(folder)]);
  const child: ChildProcess = spawn(command, argv, {
    cwd: folder,
    env: {
      ...process.env,
      PORT: '0',
      HOST: '127.0.0.1',
      WORKER_PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMITS: 'off',
      STAFF_EMAIL: 'off',
      DASHBOARD: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  );
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  const readyAt = () => /(?:Innkeeper|The worker) is ready: (\S+)\/(?:api|readyz) /.exec(printed)?.[1];
  await until(
    async () => readyAt() ?? isGone(),
    (seen) => seen !== false,
    timeoutMs,
  ).catch((error: Error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}\n${printed}`);
  });
  const url = readyAt();
  if (url === undefined || child.pid === undefined) throw new DidNotStart(printed, child.signalCode);
  return {
    url: url.replace('localhost', '127.0.0.1'),
    pid: child.pid,
    get demo() {
      return JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
    },
    output: () => printed,
    end: async (signal) => {
      if (!isGone()) child.kill(signal);
      await ended;
    },
    gone: ended,
    isGone,
  };
}
