import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lockDataDir } from '../../host/lock.ts';
import { requireBinaries } from './binaries.ts';
import { ensureInitialized, openCluster, writeConfiguration } from './cluster.ts';
import { endLeftovers } from './leftovers.ts';
import { boundLog } from './log.ts';
import {
  applicationRole,
  connectionUrl,
  retentionRole,
  type Server,
  type ServerExit,
  ServerStartError,
  startServer,
} from './server.ts';
import { defaultSettings, type PostgresSettings } from './settings.ts';

export interface EmbeddedPostgresOptions {
  /** Absolute path of the data directory; the server keeps to its subdirectory `postgres`. */
  dir: string;
  /** Short directory for the unix socket; both as `prepareDataDir` returns them. */
  runDir: string;
  /** Account for the server when we are root, which PostgreSQL refuses to run as; null otherwise. */
  runAs: string | null;
  /** Takes a line whenever something happens that a person may want to know. */
  log: (line: string) => void;
  /** PostgreSQL parameters that replace or add to the defaults. */
  settings?: PostgresSettings;
}

export interface EmbeddedPostgres {
  /** For `pg`, as the owner of the database: `postgres://innkeeper@/innkeeper?host=<socket directory>`. */
  readonly url: string;
  /** The same as the role that the product works as. */
  readonly applicationUrl: string;
  /** The same as the role by which entries of the journal leave. */
  readonly retentionUrl: string;
  /** Process id of the server; null while it is down. */
  readonly pid: number | null;
  /** Calls back whenever the server ended without being asked to; it is started again by itself. */
  onExit(callback: (exit: ServerExit) => void): void;
  /** Fast shutdown and start. Connections break. */
  restart(): Promise<void>;
  /** Fast shutdown: everything committed is on disk when this resolves. Repeatable. */
  stop(): Promise<void>;
}

const firstRestartDelayMs = 100;
const longestRestartDelayMs = 10_000;
/** A server that ran this long was well: the next failure starts over with short delays. */
const provenAfterMs = 60_000;

/**
 * Runs a real PostgreSQL of our own on a unix socket, and keeps it running until `stop`. The cluster is made
 * the first time; later starts take about a tenth of a second. Whatever an earlier run left, also one that
 * ended by `kill -9`, is cleared first. Fails when another process uses the directory, when the cluster is
 * of another major version or account, or when the server does not start; the message says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dir, runDir, runAs, log } = options;
  const cluster = await openCluster(dir, runDir, runAs);
  const lock = await lockDataDir(cluster.home);
  try {
    const binaries = await requireBinaries(cluster.home, runAs);
    await ensureInitialized(cluster, binaries, log);
    await writeConfiguration(cluster, { ...defaultSettings(), ...options.settings });
    const start = () =>
      startFresh(
        () => endLeftovers(cluster, log),
        () => startServer(cluster, binaries, log),
      );
    const supervisor = supervise(await start(), start, log);
    const logTimer = setInterval(() => void boundLog(cluster.logFile).catch(() => undefined), 60_000).unref();
    return {
      url: connectionUrl(cluster),
      applicationUrl: connectionUrl(cluster, applicationRole),
      retentionUrl: connectionUrl(cluster, retentionRole),
      get pid() {
        return supervisor.pid();
      },
      onExit: supervisor.onExit,
      restart: supervisor.restart,
      stop: async () => {
        clearInterval(logTimer);
        await supervisor.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Where the server of this data directory answers, when somebody's product keeps it running; otherwise null. */
export async function runningEmbeddedUrl(data: {
  dir: string;
  runDir: string;
  runAs: string | null;
}): Promise<Pick<EmbeddedPostgres, 'url' | 'applicationUrl' | 'retentionUrl'> | null> {
  const cluster = await openCluster(data.dir, data.runDir, data.runAs);
  const url = connectionUrl(cluster);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return {
      url,
      applicationUrl: connectionUrl(cluster, applicationRole),
      retentionUrl: connectionUrl(cluster, retentionRole),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A server that was just starting when its parent was killed shows only once ours finds it in the way. */
async function startFresh(clear: () => Promise<void>, start: () => Promise<Server>): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    await clear();
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ServerStartError && error.occupied) || attempt === 5) throw error;
      await sleep(200 * attempt);
    }
  }
}

/** Starts the server again whenever it ends by itself, with growing delays, until `stop`. */
function supervise(first: Server, start: () => Promise<Server>, log: (line: string) => void) {
  const listeners: ((exit: ServerExit) => void)[] = [];
  const halt = new AbortController();
  let current: Server | null = null;
  let delayMs = firstRestartDelayMs;
  /** Starts and stops run one after another. */
  let turn: Promise<void> = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  function watch(server: Server): void {
    current = server;
    void server.exited.then((exit) => {
      if (current !== server) return;
      current = null;
      if (Date.now() - server.startedAtMs > provenAfterMs) delayMs = firstRestartDelayMs;
      log(`PostgreSQL ended unexpectedly (${exit.signal ?? `code ${exit.code}`}), starting it again`);
      for (const listener of listeners) listener(exit);
      void inTurn(recover);
    });
  }

  async function recover(): Promise<void> {
    while (!current && !halt.signal.aborted) {
      await sleep(delayMs, null, { signal: halt.signal }).catch(() => null);
      if (halt.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, longestRestartDelayMs);
      try {
        watch(await start());
        log('PostgreSQL runs again');
      } catch (error) {
        log(`PostgreSQL could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  async function stopCurrent(): Promise<void> {
    const server = current;
    current = null;
    await server?.stop();
  }

  watch(first);
  return {
    pid: () => current?.pid ?? null,
    onExit: (callback: (exit: ServerExit) => void) => void listeners.push(callback),
    restart: () =>
      inTurn(async () => {
        if (halt.signal.aborted) throw new Error('PostgreSQL was stopped.');
        await stopCurrent();
        try {
          watch(await start());
        } catch (error) {
          void inTurn(recover);
          throw error;
        }
      }),
    stop: () => {
      halt.abort();
      return inTurn(stopCurrent);
    },
  };
}
