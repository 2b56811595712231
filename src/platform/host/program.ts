import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** What a finished program said. */
export interface Output {
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Written to the program's standard input; the way to hand over a secret, since arguments are public. */
  input?: string | Buffer;
  cwd?: string;
  env?: Record<string, string>;
  /** Milliseconds before the program is killed and the call fails. Default: two minutes. */
  timeoutMs?: number;
  /** Open files that the program inherits, as its descriptors 3, 4, and so on. */
  descriptors?: readonly number[];
  /** What it may print in characters before it is killed and the call fails. Default: 64 Mi. */
  longestOutput?: number;
  /** Called with each line as it is printed, for progress on long work. */
  onLine?: (line: string) => void;
}

/** A program that ended badly. `message` holds its name and the last of what it printed, never its input. */
export class ProgramError extends Error {
  readonly exitCode: number | null;
  readonly stderr: string;
  constructor(argv: readonly string[], exitCode: number | null, stderr: string) {
    super(`${argv.slice(0, 4).join(' ')} ended with ${exitCode}: ${stderr.trim().slice(-600)}`);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/**
 * What programs get of our environment. Named one by one: everybody with a program's rights can read its
 * environment, and a setting that opens something stays here, also one that nobody has thought of yet.
 */
const passedOn = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|INNKEEPER_TEST_RUN)$/;
/** May hold a password. What `run` starts fetches packages with them, and ends; a machine's process never sees them. */
const proxies = /^((https?|ftp|all)_proxy|no_proxy)$/i;

/** Our environment for programs we start, without what is secret in it. */
export function childEnvironment(): NodeJS.ProcessEnv {
  return environment(passedOn);
}

function environment(names: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

const stopping = new AsyncLocalStorage<AbortSignal>();
/** As long as a program that was asked to end may take over it. */
const lastWordsMs = 2_000;

/**
 * Does work whose programs end with `signal`: those that run are asked to, their calls fail with its reason, and no other is started. For what
 * fetches and builds, many calls below whoever knows that nobody waits for it any more.
 */
export function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return stopping.run(signal, work);
}

/** Starts a program that ends with the signal of {@link untilAborted}; `stopped` hears why. Fails where that signal has come already. */
export function startStoppable<T extends ChildProcess>(start: () => T, stopped: (why: Error) => void): T {
  const signal = stopping.getStore();
  signal?.throwIfAborted();
  const child = start();
  if (signal === undefined) return child;
  const end = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), lastWordsMs).unref();
  };
  signal.addEventListener('abort', end, { once: true });
  // Not `close`: what it has started itself may hold its output open for longer.
  child.once('exit', () => {
    signal.removeEventListener('abort', end);
    if (signal.aborted) stopped(signal.reason as Error);
  });
  return child;
}

/**
 * Runs a program to its end. Arguments go to the program as they are: no shell ever sees them, so a
 * hostname with a quote in it stays a hostname.
 */
export function runProgram(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
  const [program, ...args] = argv;
  if (program === undefined) throw new Error('run: no program named');
  return new Promise((resolve, reject) => {
    const start = () =>
      spawn(program, args, {
        cwd: options.cwd,
        env: { ...childEnvironment(), ...environment(proxies), ...options.env },
        stdio: ['pipe', 'pipe', 'pipe', ...(options.descriptors ?? [])],
        timeout: options.timeoutMs ?? 120_000,
        killSignal: 'SIGKILL',
      }) as ChildProcessWithoutNullStreams; // the first three are pipes
    const child = startStoppable(start, reject);
    let stdout = '';
    let stderr = '';
    let partial = '';
    const { longestOutput = 64 * 2 ** 20 } = options;
    // One that prints without end would have all of our memory, and then us: a string has a largest length.
    let isEndless = false;
    const hasRoom = (chunk: string): boolean => {
      if (!isEndless && stdout.length + stderr.length + chunk.length > longestOutput) {
        isEndless = true;
        child.kill('SIGKILL');
        stderr += `\nit printed more than ${longestOutput} characters`;
      }
      return !isEndless;
    };
    const lines = (chunk: string) => {
      if (!options.onLine) return;
      const parts = (partial + chunk).split('\n');
      partial = parts.pop() ?? '';
      for (const line of parts) options.onLine(line);
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (!hasRoom(chunk)) return;
      stdout += chunk;
      lines(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      if (!hasRoom(chunk)) return;
      stderr += chunk;
      lines(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve({ stdout, stderr });
      else reject(new ProgramError(argv, code, stderr || stdout));
    });
    child.stdin.on('error', () => undefined); // a program may end before it read everything
    child.stdin.end(options.input ?? '');
  });
}

/** A program that is spoken to while it runs. */
export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** Fails with a `ProgramError` when it ends badly. */
  ended: Promise<void>;
  kill(): void;
  /** It no longer keeps our own process from ending; its input then ends too. */
  letGo(): void;
}

/**
 * Starts a program whose output is read as it comes. It is killed when it takes too long, however slowly it is read; without a
 * time it ends by itself once its input does.
 */
export function startProgram(
  argv: readonly string[],
  { timeoutMs, env }: { timeoutMs?: number; env?: Record<string, string> } = {},
): RunningProgram {
  const [program, ...args] = argv;
  if (program === undefined) throw new Error('start: no program named');
  const child = spawn(program, args, {
    env: { ...childEnvironment(), ...env },
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-2_000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new ProgramError(argv, code, stderr))));
  });
  ended.catch(() => undefined); // whoever reads it looks when its output has ended
  child.stdin.on('error', () => undefined);
  const letGo = () => {
    child.unref();
    // Pipes of programs are sockets, which their types do not say.
    for (const each of child.stdio) (each as Socket | null)?.unref();
  };
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => void child.kill('SIGKILL'), letGo };
}

/** Starts a program that lives on when we end. What it prints is added to `log`. */
export function startDetached(argv: readonly string[], log: string): void {
  const [program, ...args] = argv;
  if (program === undefined) throw new Error('start: no program named');
  const printed = openSync(log, 'a', 0o600);
  const child = spawn(program, args, {
    env: childEnvironment(),
    stdio: ['ignore', printed, printed],
    detached: true,
  });
  child.on('error', () => undefined); // whoever waits for what it does finds that it does nothing
  child.unref();
  closeSync(printed);
}

const isRoot = process.getuid?.() === 0;

/** Argument vector that runs `argv` as root: unchanged when we are root, through `sudo -n` otherwise. */
export function asRoot(argv: readonly string[]): string[] {
  return isRoot ? [...argv] : ['sudo', '-n', ...argv];
}

/** Runs a program as root; see {@link runProgram}. Fails when we are not root and sudo would ask for a password. */
export function runAsRoot(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
  return runProgram(asRoot(argv), options);
}
