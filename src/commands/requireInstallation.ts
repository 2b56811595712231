import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { connect, createLog, wasStarted } from '../platform/index.ts';
import { UsageError } from './command.ts';

/** Refuses where the product was never started: a command with a wrong setting would begin a second installation there. */
export async function requireInstallation({ dataDir, databaseUrl }: Config): Promise<void> {
  const isThere =
    databaseUrl === null
      ? existsSync(join(dataDir, 'postgres/data/PG_VERSION'))
      : await isFilled(databaseUrl);
  if (isThere) return;
  const where = databaseUrl === null ? dataDir : 'the database that DATABASE_URL names';
  const setting = databaseUrl === null ? 'DATA_DIR' : 'DATABASE_URL';
  throw new UsageError(
    `There is no Innkeeper in ${where}. Set ${setting} as the product has it, or start the product there once.`,
  );
}

async function isFilled(url: string): Promise<boolean> {
  const db = connect(url, { log: createLog('silent'), poolSize: 1 });
  try {
    return await wasStarted(db);
  } finally {
    await db.close();
  }
}
