import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { asServiceUser } from '../../host/serviceUser.ts';
import type { PostgresBinaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { boundLog, logBytes, readLogSince } from './log.ts';

/** How a server process ended. */
export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One running server process, ready for connections. */
export interface Server {
  pid: number;
  startedAtMs: number;
  /** Resolves when the process has ended, wanted or not. */
  exited: Promise<ServerExit>;
  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
}

/** A server that ended before it was ready; `message` holds the last of what it logged. */
export class ServerStartError extends Error {
  /** Another server is still letting go of this cluster: trying again can help. */
  readonly occupied: boolean;
  constructor(exit: ServerExit, logged: string) {
    super(`PostgreSQL ended before it was ready (${exit.signal ?? exit.code}):\n${logged}`);
    this.occupied = /lock file .* already exists|pre-existing shared memory/.test(logged);
  }
}

/** Starts a server on a cluster that nobody else serves, and waits until it takes connections. */
export async function startServer(
  cluster: Cluster,
  binaries: PostgresBinaries,
  log: (line: string) => void,
): Promise<Server> {
  await boundLog(cluster.logFile);
  const logStart = await logBytes(cluster.logFile);
  const child = await launch(cluster, binaries);
  let ended: ServerExit | Error | null = null;
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('error', (error) => {
      ended = error;
      resolve({ code: null, signal: null });
    });
    child.once('exit', (code, signal) => {
      ended = { code, signal };
      resolve(ended);
    });
  });
  const startedAtMs = Date.now();
  const stop = () => stopChild(child, exited);
  try {
    for (let lastWordMs = startedAtMs; !(await isReady(cluster, child.pid)); await sleep(10)) {
      if (ended !== null) throw await startError(ended, cluster.logFile, logStart);
      if (Date.now() - lastWordMs < 5_000) continue;
      lastWordMs = Date.now();
      log(
        `waiting for PostgreSQL, ${Math.round((lastWordMs - startedAtMs) / 1000)} s (recovery can take long)`,
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, startedAtMs, exited, stop };
}

async function startError(ended: ServerExit | Error, logFile: string, logStart: number): Promise<Error> {
  if (ended instanceof Error) return new Error('PostgreSQL could not be run.', { cause: ended });
  return new ServerStartError(ended, await readLogSince(logFile, logStart));
}

async function launch(cluster: Cluster, binaries: PostgresBinaries): Promise<ChildProcess> {
  const argv = asServiceUser(
    cluster.owner?.name ?? null,
    [
      path.join(binaries.dir, 'bin', 'postgres'),
      '-D',
      cluster.dataDir,
      '-c',
      `config_file=${cluster.configFile}`,
    ],
    'INT',
  );
  const [program = '', ...args] = argv;
  const logFile = await fs.open(cluster.logFile, 'a', 0o600);
  try {
    return spawn(program, args, {
      // A session of its own: Ctrl-C in a terminal is for us, and the server goes after its last client.
      detached: true,
      cwd: '/',
      // Nothing of our environment: it may hold secrets, and PGPORT and the like would change the server.
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', logFile.fd, logFile.fd],
    });
  } finally {
    await logFile.close();
  }
}

async function stopChild(child: ChildProcess, exited: Promise<ServerExit>): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', 60_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ] as const) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill(signal);
    const timer = new AbortController();
    await Promise.race([exited, sleep(patienceMs, null, { signal: timer.signal }).catch(() => null)]);
    timer.abort();
  }
}

/** The product's own role, which owns nothing: of tables that only grow it may read and add. */
export const applicationRole = 'innkeeper_app';
/** By which entries of the journal leave that are kept no longer; it may do nothing else. */
export const retentionRole = 'innkeeper_retention';

/** Connection string for the product's own database, through the cluster's socket. */
export function connectionUrl(cluster: Cluster, user = 'innkeeper', database = 'innkeeper'): string {
  return `postgres://${user}@/${database}?host=${encodeURIComponent(cluster.socketDir)}`;
}

/** Whether the server takes connections; makes our database and its roles the first time. */
async function isReady(cluster: Cluster, pid: number | undefined): Promise<boolean> {
  const pidFile = await fs.readFile(path.join(cluster.dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = pidFile.split('\n');
  if (lines[0] !== String(pid) || lines[7]?.trim() !== 'ready') return false;
  try {
    const roles = [applicationRole, retentionRole];
    await Promise.all(roles.map((role) => query(connectionUrl(cluster, role), ['SELECT 1'])));
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (notYet.has(code)) return false;
    if (!unmade.has(code)) throw error;
    await createDatabase(cluster);
  }
  return true;
}

/** No socket, nobody at it, cut off, starting up, shutting down: the process itself tells what comes of it. */
const notYet = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', '57P01']);
/** No such role, no such database. */
const unmade = new Set(['28000', '3D000']);

/** The owner of the database may make others, and is no superuser; the others came later, so each may be there. */
async function createDatabase(cluster: Cluster): Promise<void> {
  const server = connectionUrl(cluster, 'postgres', 'postgres');
  const others = [applicationRole, retentionRole].map((role) => `${role} LOGIN`);
  for (const role of ['innkeeper LOGIN CREATEDB IN ROLE pg_monitor', ...others])
    await query(server, [`CREATE ROLE ${role}`]).catch(unlessThere);
  await query(server, ['CREATE DATABASE innkeeper OWNER innkeeper']).catch(unlessThere);
}

/** duplicate_object, duplicate_database */
function unlessThere(error: { code?: string }): void {
  if (error.code !== '42710' && error.code !== '42P04') throw error;
}

async function query(connectionString: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined); // the server may end while we ask; the query tells
  try {
    await client.connect();
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
