import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, type TxContext, transaction } from './context.ts';
import { forSame, statement } from './database/index.ts';
import { holdJobs } from './jobs/hold.ts';
import type { AnySaga } from './jobs/index.ts';

interface Restore {
  id: number;
  /** When the backup was made that the database came from. */
  made_at: Date;
  /** Since when people go on with what came back. */
  restored_at: Date;
  /** The journal's first number since; null of one that is older than this column. */
  journal_from: number | null;
}

const unsettled = statement<{ id: number }>(
  'restores.unsettled',
  'select id from restores where settled_at is null limit 1',
);
// Of several only the newest counts: an older one came back in its backup.
const unforgotten = statement<{ id: number }>(
  'restores.unforgotten',
  `select id from restores
   where id = (select max(id) from restores where settled_at is null) and forgotten_at is null`,
);
// One worker settles; others that start beside it wait until it has, and take over when it dies.
const lockUnsettled = statement<{ id: number; made_at: Date; restored_at: Date; forgotten_at: Date | null }>(
  'restores.lockUnsettled',
  `select id, made_at, restored_at, forgotten_at from restores
   where id = (select max(id) from restores where settled_at is null) for no key update skip locked`,
);
const noteForgotten = statement<never, { id: number; now: Date }>(
  'restores.noteForgotten',
  'update restores set forgotten_at = :now where id = :id',
);
const newest = forSame(
  statement<Restore>(
    'restores.newest',
    'select id, made_at, restored_at, journal_from from restores order by id desc limit 1',
  ),
);
const held = forSame(
  statement<Restore>(
    'restores.held',
    'select id, made_at, restored_at, journal_from from restores where released_at is null order by id desc limit 1',
  ),
);
const settle = statement<never, { now: Date }>(
  'restores.settle',
  'update restores set settled_at = :now where settled_at is null',
);
const waitMs = 100;
const release = statement<never, { id: number; now: Date }>(
  'restores.release',
  'update restores set released_at = :now where id <= :id and released_at is null',
);

/**
 * The last restore of this database from a backup; null when there never was one. What was given away between that backup
 * and that moment is not known here, and is somebody's all the same.
 */
export function findLastRestore(ctx: Context): Promise<Restore | null> {
  return ctx.db.maybe(newest);
}

/**
 * The last restore while staff has not released it; null otherwise. Until then nothing happens by itself that cannot be
 * taken back: what decides it may have been changed since the backup.
 */
export function findHeldRestore(ctx: Context): Promise<Restore | null> {
  return ctx.db.maybe(held);
}

/** Lets everything that a restore holds go on, and what those before it hold. */
export async function releaseRestore(tx: TxContext, id: number): Promise<void> {
  await tx.db.run(release, { id, now: tx.clock.now() });
}

/**
 * After a restore, before any job runs: holds what was under way of `sagas` when the backup was made. It may have been
 * done since, and a reinstall that is done twice takes away what its customer has made meanwhile; a person decides. What was asked
 * for after the database came back was done nowhere else, and goes on.
 * `forget` takes away what must not come back to life, where no process without jobs has done so before; `tell` says what came back
 * to those whose it is.
 */
export async function settleRestore(
  ctx: Context,
  sagas: readonly AnySaga[],
  forget: Work,
  tell: Work | null = null,
): Promise<void> {
  while ((await ctx.db.maybe(unsettled)) !== null) {
    if (!(await settleUnlessAnother(ctx, sagas, forget, tell))) await sleep(waitMs);
  }
}

type Work = (tx: TxContext) => Promise<void>;

/**
 * In a process that settles nothing, before it answers anybody: what was closed since the backup must not stand open until a worker
 * comes. Once for each restore: whoever signed in after it is not signed out by the next process that starts.
 */
export async function forgetUnsettled(ctx: Context, forget: Work): Promise<void> {
  while ((await ctx.db.maybe(unforgotten)) !== null) {
    if (!(await forgetUnlessAnother(ctx, forget))) await sleep(waitMs);
  }
}

/** Says whether it was done: false while another process is at it. */
function forgetUnlessAnother(ctx: Context, forget: Work): Promise<boolean> {
  return transaction(ctx, 'restores.forget', async (tx) => {
    const restore = await tx.db.maybe(lockUnsettled);
    if (restore === null) return false;
    await forgetOnce(tx, restore, forget);
    return true;
  });
}

/** The restore's row is locked. */
async function forgetOnce(
  tx: TxContext,
  restore: { id: number; forgotten_at: Date | null },
  forget: Work,
): Promise<void> {
  if (restore.forgotten_at !== null) return;
  await forget(tx);
  await tx.db.run(noteForgotten, { id: restore.id, now: tx.clock.now() });
}

/** Says whether it did: false while another worker is at it, whose jobs of after that are not to be held. */
function settleUnlessAnother(
  ctx: Context,
  sagas: readonly AnySaga[],
  forget: Work,
  tell: Work | null,
): Promise<boolean> {
  return transaction(ctx, 'restores.settle', async (tx) => {
    const restore = await tx.db.maybe(lockUnsettled);
    if (restore === null) return false;
    const moment = restore.made_at.toISOString();
    // Each in a transaction of its own, for there may be many; whoever goes on after a crash finds them held.
    const jobs = await holdJobs(
      ctx,
      sagas,
      restore.restored_at,
      `held, because the database was restored as it was at ${moment}: it may have been done since. Look first; ` +
        'a retry does it again, and takes nothing back when it fails',
    );
    await forgetOnce(tx, restore, forget);
    await tell?.(tx);
    await tx.db.run(settle, { now: tx.clock.now() });
    ctx.log.warn({ madeAt: moment, held: jobs }, 'the database was restored from a backup');
    return true;
  });
}
