import type { Config } from './config.ts';
import { runningEmbeddedUrl, startEmbeddedPostgres } from './platform/database/embedded/index.ts';
import { type DataDir, lockDataDir } from './platform/host/dataDir.ts';
import { type Logger, migrate, requireOwnSessions, roleOf } from './platform/index.ts';

/** Tells a person how far it is; see `platform/host/terminal.ts`. */
export interface Stages {
  stage(name: string): void;
  say(detail: string): void;
}

export interface OpenDatabase {
  /** What `connect` takes: the application's role. */
  url: string;
  /** The role that owns the tables, for migrations, backups and restores; the same where there is no other. */
  ownerUrl: string;
  /** The role by which entries of the journal leave; null where there is none. */
  retentionUrl: string | null;
  close(): Promise<void>;
}

/**
 * The database of this installation, brought up to date: the one that DATABASE_URL names, or the embedded one, which
 * runs until `close`.
 */
export async function openDatabase(
  config: Config,
  data: DataDir,
  progress: Stages,
  log: Logger,
): Promise<OpenDatabase> {
  const server = await openServer(config, data, progress, log);
  try {
    progress.stage('migrations');
    const applied = await migrate(server.ownerUrl, await grantedTo(server));
    if (applied.length > 0) progress.say(`${applied.length} applied`);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/**
 * The same as it is, whatever version wrote it. Whoever keeps machines or the embedded database in DATA_DIR holds its
 * lock meanwhile, so a second product or worker on it is refused; processes of ROLE=api only read there and may share it.
 */
export async function openServer(
  config: Config,
  data: DataDir,
  progress: Stages,
  log: Logger,
): Promise<OpenDatabase> {
  const isOurs = config.databaseUrl === null;
  const lock = isOurs || config.role !== 'api' ? await lockDataDir(data.dir) : null;
  try {
    const given = urlsOf(config);
    if (given !== null) {
      for (const url of new Set([given.url, given.ownerUrl, given.retentionUrl]))
        if (url !== null) await requireOwnSessions(url);
      return { ...given, close: async () => lock?.release() };
    }
    progress.stage('database');
    const embedded = await startEmbeddedPostgres({ ...data, log: (line) => log.info({}, line) });
    const close = async () => {
      await embedded.stop();
      lock?.release();
    };
    const { applicationUrl: url, url: ownerUrl, retentionUrl } = embedded;
    return { url, ownerUrl, retentionUrl, close };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** The same for a command of a minute: beside the product while it runs, by itself while it does not. */
export async function borrowDatabase(
  config: Config,
  data: DataDir,
  progress: Stages,
  log: Logger,
): Promise<OpenDatabase> {
  const running = await findServer(config, data);
  return running ?? openDatabase(config, data, progress, log);
}

/** The same as it is: to be looked at, and left at the version that it has. */
export async function borrowServer(
  config: Config,
  data: DataDir,
  progress: Stages,
  log: Logger,
): Promise<OpenDatabase> {
  const running = await findServer(config, data);
  return running ?? openServer(config, data, progress, log);
}

/** The server that runs without us; null when there is none. */
async function findServer(config: Config, data: DataDir): Promise<OpenDatabase | null> {
  const given = urlsOf(config);
  if (given !== null) return { ...given, close: async () => undefined };
  const running = await runningEmbeddedUrl(data);
  if (running === null) return null;
  const { applicationUrl: url, url: ownerUrl, retentionUrl } = running;
  return { url, ownerUrl, retentionUrl, close: async () => undefined };
}

/** Another PostgreSQL than the embedded one; null without. */
function urlsOf({
  databaseUrl: url,
  databaseOwnerUrl,
  databaseRetentionUrl: retentionUrl,
}: Config): Omit<OpenDatabase, 'close'> | null {
  return url === null ? null : { url, ownerUrl: databaseOwnerUrl ?? url, retentionUrl };
}

/** Whom the tables are granted to: the application's role, where it is not their owner, and that of retention. */
async function grantedTo({
  url,
  ownerUrl,
  retentionUrl,
}: OpenDatabase): Promise<{ grantedTo?: string; retentionTo?: string }> {
  return {
    ...(url === ownerUrl ? {} : { grantedTo: await roleOf(url) }),
    ...(retentionUrl === null ? {} : { retentionTo: await roleOf(retentionUrl) }),
  };
}
