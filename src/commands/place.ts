import { BackupError, type Manifest, rowsIn } from '../backup/index.ts';
import type { Config } from '../config.ts';
import type { Stages } from '../database.ts';
import { type DataDir, DirInUse, prepareDataDir } from '../platform/host/dataDir.ts';
import { createLog, type Logger } from '../platform/index.ts';
import { UsageError } from './command.ts';
import { requireInstallation } from './requireInstallation.ts';

/** What commands about whole databases work with, which open no context. */
export interface Place {
  data: DataDir;
  log: Logger;
  quiet: Stages;
}

/** Runs `work` in DATA_DIR, which may be new. What it refuses is the operator's to mend. */
export async function withPlace<T>(config: Config, work: (place: Place) => Promise<T>): Promise<T> {
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel, { format: 'text' });
  const data = await prepareDataDir(config.dataDir);
  const quiet = { stage: () => undefined, say: () => undefined };
  return work({ data, log, quiet }).catch((error: unknown) => {
    const isTheirs = error instanceof BackupError || error instanceof DirInUse;
    throw isTheirs ? new UsageError(error.message, { cause: error }) : error;
  });
}

/** The same where the product was started before. */
export async function withInstallation<T>(config: Config, work: (place: Place) => Promise<T>): Promise<T> {
  await requireInstallation(config);
  return withPlace(config, work);
}

/** What is in a backup, in words. */
export function contents(manifest: Manifest): string {
  return `${rowsIn(manifest)} rows in ${manifest.tables.length} tables`;
}
