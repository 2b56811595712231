import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { productArgv } from '../child.ts';

/** The product as its user starts it, in a process of its own. */
export interface ProductChild {
  pid: number;
  /** Resolves with the address of the API once it is ready; rejects when the process ends before. */
  ready: Promise<string>;
  /** Resolves when the process has ended. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Everything it has printed so far, both streams. */
  printed(): string;
  kill(signal?: NodeJS.Signals): void;
}

const compileCache = process.env.NODE_COMPILE_CACHE;
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/**
 * Starts `node src/main.ts`, without the dashboard, with nothing of our environment but what is named; `nodeArgs` are told to Node
 * itself, and `argv` is another way to start it.
 */
export function startProductChild(
  env: Record<string, string>,
  nodeArgs: readonly string[] = [],
  argv: readonly string[] = productArgv,
): ProductChild {
  const child = spawn(process.execPath, [...nodeArgs, ...argv], {
    cwd: '/',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '/',
      PORT: '0',
      HOST: '127.0.0.1',
      DASHBOARD: 'off',
      ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let text = '';
  const ready = Promise.withResolvers<string>();
  ready.promise.catch(() => undefined); // whoever cares awaits it as well
  const onText = (chunk: Buffer) => {
    text += stripVTControlCharacters(chunk.toString());
    const url = /Innkeeper is ready: (http:\S+)\/api/.exec(text)?.[1];
    if (url) ready.resolve(url.replace('localhost', '127.0.0.1'));
  };
  child.stdout?.on('data', onText);
  child.stderr?.on('data', onText);
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('exit', (code, signal) => {
      alive.delete(child);
      ready.reject(
        new Error(`the product ended with ${signal ?? code} before it was ready:\n${text.slice(-3_000)}`),
      );
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    exited,
    printed: () => text,
    kill: (signal = 'SIGKILL') => child.kill(signal),
  };
}
