import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian 12 has Redis, later ones Valkey: they speak the same. */
const program = ['/usr/bin/valkey-server', '/usr/bin/redis-server'].find((each) => existsSync(each));

/** Why there is none on this host; null when there is. */
export const withoutValkey = program === undefined ? 'redis-server is not installed' : null;

/** A real Valkey, or Redis, that keeps nothing. */
export interface ValkeyServer {
  url: string;
  /** The power goes, … */
  kill(): Promise<void>;
  /** … and comes again, at the same port and empty. */
  start(): Promise<void>;
  /** Stops answering without closing a connection, and goes on. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startValkey(port: number): Promise<ValkeyServer> {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-valkey-'));
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn(program ?? '', [...args, '--dir', dir], { stdio: 'ignore' });
    await answers(port, child);
  };
  const kill = async (): Promise<void> => {
    const ended = child;
    child = null;
    if (ended === null || ended.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      ended.once('exit', () => resolve());
      ended.kill('SIGKILL');
    });
  };
  await start();
  return {
    url: `valkey://127.0.0.1:${port}/0`,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    close: async () => {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`Valkey ended with ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error('Valkey does not answer');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
