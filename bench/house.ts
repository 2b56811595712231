import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Demo } from '../src/demo/index.ts';
import { openCluster } from '../src/platform/database/embedded/cluster.ts';
import { connectionUrl } from '../src/platform/database/embedded/server.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { nowMs } from './measure.ts';

export const root = path.join(import.meta.dirname, '..');

/** The product as a user starts it: a process of its own, with its embedded PostgreSQL and its log in a file. */
export interface House {
  /** Where it answers, without `/api`. */
  url: string;
  /** The product's own process. */
  pid: number;
  dataDir: string;
  databaseUrl: string;
  socketDir: string;
  demo: Demo;
  /** From being started to saying that it is ready. */
  startMs: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Removes what a run made; whoever makes something adds how to take it away. */
export const undo: (() => Promise<unknown> | unknown)[] = [];

export async function undoAll(): Promise<void> {
  for (const each of undo.splice(0).reverse()) {
    await Promise.resolve()
      .then(each)
      .catch((error: Error) => console.error(`left behind: ${error.message}`));
  }
}

/** A data directory that goes when the bench ends, with its unix sockets. */
export async function temporaryDir(): Promise<string> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-bench-'));
  undo.push(async () => {
    const { runDir } = await prepareDataDir(dir);
    await runProgram(['umount', path.join(runDir, 'data')]).catch(() => undefined); // only where it was mounted
    rmSync(runDir, { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const startTimeoutMs = 120_000;

/** Starts the product and waits until it says that it is ready. `argv` replaces `node src/main.ts`. */
export async function openHouse(
  dataDir: string,
  env: Record<string, string> = {},
  argv: readonly string[] = [process.execPath, path.join(root, 'src/main.ts')],
): Promise<House> {
  const log = openSync(path.join(dataDir, 'bench.log'), 'a');
  const began = nowMs();
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', log, 'ipc'],
  });
  closeSync(log);
  const stop = () => end(child);
  undo.push(stop);
  const url = await readyUrl(child, dataDir);
  const startMs = nowMs() - began;
  const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const data = await prepareDataDir(dataDir);
  const cluster = await openCluster(data.dir, data.runDir, data.runAs);
  return {
    url: url.replace('localhost', '127.0.0.1'),
    pid: productPid(child.pid ?? 0),
    dataDir,
    databaseUrl: connectionUrl(cluster),
    socketDir: cluster.socketDir,
    demo,
    startMs,
    process: child,
    stop,
  };
}

async function readyUrl(child: ChildProcess, dataDir: string): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => {
      child.kill('SIGKILL');
      const log = readFileSync(path.join(dataDir, 'bench.log'), 'utf8').slice(-2_000);
      reject(new Error(`the product did not start (${why}):\n${printed}\n${log}`));
    };
    const timer = setTimeout(() => giveUp('too slow'), startTimeoutMs);
    const onExit = (code: number | null) => giveUp(`ended with ${code}`);
    child.once('exit', onExit);
    child.stdout?.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
      const url = /Innkeeper is ready: (\S+)\/api /.exec(printed)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      child.off('exit', onExit);
      resolve(url);
    });
  });
}

/** Under npm the product is a grandchild: the last of the line of only children that is no database. */
function productPid(pid: number): number {
  for (;;) {
    const next = childrenOf(pid).find((child) => /^(node|sh|npm)\b/.test(nameOf(child)));
    if (next === undefined) return pid;
    pid = next;
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.split('/').at(-1) ?? '';
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const pid = productPid(child.pid);
  process.kill(pid, 'SIGCONT'); // it may have been paused
  process.kill(pid, 'SIGTERM');
  await gone;
}
