import { record } from '../../events/index.ts';
import {
  type Context,
  countUnfinished,
  enqueue,
  fail,
  findHeldRestore,
  type NamedJob,
  releaseRestore,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { restoreReleased } from '../events.ts';
import { followProvider } from './follow.ts';

const msUntilAskedAgain = 5 * 60_000;

const comparedSince = statement<{ ended_at: Date }, { driver: string; restore: number }>(
  'billing.comparedSinceRestore',
  'select ended_at from provider_comparisons where driver = :driver and ended_restore >= :restore',
);

/**
 * Whether a job that takes money by itself has to wait, because the database was restored and does not know what it has
 * taken already. Then it has been enqueued again for later.
 */
export async function waitsForRelease<Payload extends object>(
  tx: TxContext,
  job: NamedJob<Payload>,
  payload: NoInfer<Payload>,
): Promise<boolean> {
  if ((await findHeldRestore(tx)) === null) return false;
  await enqueueLater(tx, job, payload);
  return true;
}

/** Has a job look again whether staff has released what the restore holds. */
export async function enqueueLater<Payload extends object>(
  tx: TxContext,
  job: NamedJob<Payload>,
  payload: NoInfer<Payload>,
): Promise<void> {
  await enqueue(tx, job, payload, { runAt: new Date(tx.clock.now().getTime() + msUntilAskedAgain) });
}

/**
 * Whether something was wanted before a restore that staff has not released yet. It may have been done since, and nothing
 * here knows of it. What somebody asks for after the restore they mean.
 */
export async function wasMadeBefore(ctx: Context, madeAt: Date): Promise<boolean> {
  const restore = await findHeldRestore(ctx);
  return restore !== null && madeAt <= restore.restored_at;
}

/**
 * Staff says that things go on: what was paid since the backup is known again. `not_found` when no such restore holds
 * anything; `conflict` until the payment provider was compared and all that it told was booked.
 */
export async function releaseHeld(ctx: Context, id: number): Promise<{ released: boolean }> {
  return transaction(ctx, 'billing.releaseRestore', async (tx) => {
    const restore = await findHeldRestore(tx);
    if (restore === null || restore.id !== id) throw fail('not_found');
    const waits = await whyNotYet(tx, id);
    if (waits !== null) throw fail('conflict', { message: waits });
    await releaseRestore(tx, id);
    await record(tx, restoreReleased, {
      subject: { type: 'restore', id },
      organizationId: null,
      data: { made_at: restore.made_at.toISOString(), restored_at: restore.restored_at.toISOString() },
    });
    return { released: true };
  });
}

/** What has to end before; null when nothing does. Without a payment provider only people know what was paid. */
async function whyNotYet(tx: TxContext, restore: number): Promise<string | null> {
  const { payments: driver } = tx.config;
  if (driver === 'none') return null;
  const compared = await tx.db.maybe(comparedSince, { driver, restore });
  if (compared === null)
    return `What ${driver} has taken since the backup is being looked up; try again when that has ended`;
  const left = await countUnfinished(tx, followProvider, compared.ended_at);
  if (left === 0) return null;
  return `${left} of what ${driver} told are not booked yet; try again in a moment, and see to the jobs that failed`;
}
