import type { Config } from './config.ts';
import { runningEmbeddedUrl, startEmbeddedPostgres } from './platform/database/embedded/index.ts';
import { type DataDir, lockDataDir } from './platform/host/dataDir.ts';
import { type Logger, migrate } from './platform/index.ts';

/** Tells a person how far it is; see `platform/host/terminal.ts`. */
export interface Stages {
  stage(name: string): void;
  say(detail: string): void;
}

export interface OpenDatabase {
  /** What `connect` takes. */
  url: string;
  close(): Promise<void>;
}

/**
 * The database of this installation, brought up to date: the one that DATABASE_URL names, or the embedded one, which
 * runs until `close`. Whoever keeps machines or the embedded database in DATA_DIR holds its lock meanwhile, so a second
 * product or worker on it is refused; processes of ROLE=api only read there and may share it.
 */
export async function openDatabase(
  config: Config,
  data: DataDir,
  progress: Stages,
  log: Logger,
): Promise<OpenDatabase> {
  const isOurs = config.databaseUrl === null;
  const lock = isOurs || config.role !== 'api' ? await lockDataDir(data.dir) : null;
  let stop = async (): Promise<void> => undefined;
  const close = async () => {
    await stop();
    lock?.release();
  };
  try {
    let url = config.databaseUrl;
    if (url === null) {
      progress.stage('database');
      const embedded = await startEmbeddedPostgres({ ...data, log: (line) => log.info({}, line) });
      ({ stop } = embedded);
      ({ url } = embedded);
    }
    progress.stage('migrations');
    const applied = await migrate(url);
    if (applied.length > 0) progress.say(`${applied.length} applied`);
    return { url, close };
  } catch (error) {
    await close();
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
  const running = config.databaseUrl ?? (await runningEmbeddedUrl(data));
  if (running === null) return openDatabase(config, data, progress, log);
  return { url: running, close: async () => undefined };
}
