import type { Config } from '../config.ts';
import { borrowDatabase } from '../database.ts';
import { gatherReactions } from '../events/index.ts';
import { prepareDataDir } from '../platform/host/dataDir.ts';
import { type Context, connect, createLog, openSeal, systemActor, systemClock } from '../platform/index.ts';
import { allReactions, allSealed } from '../worker.ts';
import { requireInstallation } from './requireInstallation.ts';

/** Runs `work` on this installation's database, beside the product or while it is stopped. There has to be one. */
export async function withDatabase<T>(
  config: Config,
  work: (ctx: Omit<Context, 'seal'>) => Promise<T>,
): Promise<T> {
  await requireInstallation(config);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel, { format: 'text' });
  const data = await prepareDataDir(config.dataDir);
  const quiet = { stage: () => undefined, say: () => undefined };
  const database = await borrowDatabase(config, data, quiet, log);
  try {
    const db = connect(database.url, { log, poolSize: 2 });
    try {
      return await work({
        db,
        config,
        log,
        clock: systemClock,
        reactions: gatherReactions(allReactions),
        actor: systemActor,
        organizationId: null,
        requestId: null,
      });
    } finally {
      await db.close();
    }
  } finally {
    await database.close();
  }
}

/** The same for what opens or seals secrets, or calls the product's own rules. */
export function withContext<T>(config: Config, work: (ctx: Context) => Promise<T>): Promise<T> {
  return withDatabase(config, async (ctx) =>
    work({ ...ctx, seal: await openSeal(ctx.db, config.dataDir, config.secretKey, allSealed) }),
  );
}
