import { BackupError, type Manifest, rowsIn } from '../backup/index.ts';
import type { Config } from '../config.ts';
import type { Stages } from '../database.ts';
import { type DataDir, prepareDataDir } from '../platform/host/dataDir.ts';
import { createLog, type Logger } from '../platform/index.ts';
import { UsageError } from './command.ts';

/** What commands about whole databases work with, which open no context. */
export interface Place {
  data: DataDir;
  log: Logger;
  quiet: Stages;
}

/** Runs `work` in this installation's DATA_DIR. What it refuses is the operator's to mend. */
export async function withPlace<T>(config: Config, work: (place: Place) => Promise<T>): Promise<T> {
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel, { format: 'text' });
  const data = await prepareDataDir(config.dataDir);
  const quiet = { stage: () => undefined, say: () => undefined };
  return work({ data, log, quiet }).catch((error: unknown) => {
    throw error instanceof BackupError ? new UsageError(error.message, { cause: error }) : error;
  });
}

/** What is in a backup, in words. */
export function contents(manifest: Manifest): string {
  return `${rowsIn(manifest)} rows in ${manifest.tables.length} tables`;
}
