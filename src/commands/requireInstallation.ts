import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { runningEmbeddedUrl } from '../platform/database/embedded/index.ts';
import { lockedBy, prepareDataDir } from '../platform/host/dataDir.ts';
import { connect, createLog, wasStarted } from '../platform/index.ts';
import { UsageError } from './command.ts';

/** How long a service that was told to start a moment ago may take until it is seen to. */
const graceMs = 15_000;
/** How long a start that is under way may take; then the command goes on, and says what it meets. */
const startMs = 120_000;
const pauseMs = 200;

/**
 * Refuses where the product was never started: a command with a wrong setting would begin a second installation there.
 * Where it is being started for the first time, waits until its database is filled.
 */
export async function requireInstallation(config: Config): Promise<void> {
  await untilStarted(config);
  const { dataDir, databaseUrl } = config;
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

/** Returns at once where the product runs, is stopped or never was; the folder alone is what a package leaves. */
async function untilStarted(config: Config): Promise<void> {
  if (!existsSync(config.dataDir)) return;
  const began = Date.now();
  let isTold = false;
  for (;;) {
    const starts = lockedBy(config.dataDir) !== null && Date.now() < began + startMs;
    const mayBegin = Date.now() < began + graceMs && !existsSync(join(config.dataDir, '.lock'));
    if (!(starts || mayBegin) || (await isRunning(config))) return;
    if (starts && !isTold) console.error('Innkeeper is starting; this goes on when its database is there.');
    isTold ||= starts;
    await pause(pauseMs);
  }
}

/** Whether there is a database already that the product has filled. */
async function isRunning({ dataDir, databaseUrl }: Config): Promise<boolean> {
  try {
    const url = databaseUrl ?? (await runningEmbeddedUrl(await prepareDataDir(dataDir)))?.applicationUrl;
    return url !== undefined && (await isFilled(url));
  } catch {
    return false; // one that is not made yet, or just starts
  }
}

async function isFilled(url: string): Promise<boolean> {
  const db = connect(url, { log: createLog('silent'), poolSize: 1 });
  try {
    return await wasStarted(db);
  } finally {
    await db.close();
  }
}
