import { type Context, type TxContext, transaction } from './context.ts';
import { forSame, statement } from './database/index.ts';
import { holdJobs } from './jobs/hold.ts';
import type { AnySaga } from './jobs/index.ts';

const unsettled = statement<{ made_at: Date }>(
  'restores.unsettled',
  'select made_at from restores where settled_at is null order by id desc limit 1',
);
const newest = forSame(
  statement<{ restored_at: Date }>(
    'restores.newest',
    'select restored_at from restores order by id desc limit 1',
  ),
);
const settle = statement<never, { now: Date }>(
  'restores.settle',
  'update restores set settled_at = :now where settled_at is null',
);

/**
 * When this database was last restored from a backup; null when it never was. What was given away between that backup and
 * this moment is not known here, and is somebody's all the same.
 */
export async function lastRestoredAt(ctx: Context): Promise<Date | null> {
  return (await ctx.db.maybe(newest))?.restored_at ?? null;
}

/**
 * After a restore, before any job runs: holds what was under way of `sagas` when the backup was made. It may have been
 * done since, and a reinstall that is done twice takes away what its customer has made meanwhile; a person decides.
 * `forget` takes away what must not come back to life.
 */
export async function settleRestore(
  ctx: Context,
  sagas: readonly AnySaga[],
  forget: (tx: TxContext) => Promise<void>,
): Promise<void> {
  const restore = await ctx.db.maybe(unsettled);
  if (restore === null) return;
  const moment = restore.made_at.toISOString();
  const held = await holdJobs(
    ctx,
    sagas,
    `held, because the database was restored as it was at ${moment}: it may have been done since. Look first; ` +
      'a retry does it again, and takes nothing back when it fails',
  );
  await transaction(ctx, 'restores.settle', async (tx) => {
    await forget(tx);
    await tx.db.run(settle, { now: tx.clock.now() });
  });
  ctx.log.warn({ madeAt: moment, held }, 'the database was restored from a backup');
}
