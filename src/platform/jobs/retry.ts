import type { Context, TxContext } from '../context.ts';
import { wakeWorkers } from './enqueue.ts';
import { forgetSteps, retryJob, retryJobAbout, stateAbout } from './queries.ts';

/**
 * Has a failed job run again from its first step; everything it had done was undone when it failed. False when
 * there is no failed job with this id.
 */
export async function retryFailedJob(ctx: TxContext, id: number): Promise<boolean> {
  return again(ctx, await ctx.db.maybe(retryJob, id, ctx.clock.now()));
}

/** The same for the newest failed job of a name whose payload holds `about`, such as `{ serviceId: 12 }`. */
export async function retryFailedJobAbout(ctx: TxContext, name: string, about: object): Promise<boolean> {
  return again(ctx, await ctx.db.maybe(retryJobAbout, name, about, ctx.clock.now()));
}

/** How the newest job of a name stands whose payload holds `about`; null when there is none (any more). */
export async function jobStateAbout(
  ctx: Context,
  name: string,
  about: object,
): Promise<'ready' | 'running' | 'done' | 'failed' | null> {
  return (await ctx.db.maybe(stateAbout, name, about))?.state ?? null;
}

async function again(ctx: TxContext, job: { id: number } | null): Promise<boolean> {
  if (job === null) return false;
  await ctx.db.run(forgetSteps, job.id);
  ctx.db.afterCommit(wakeWorkers);
  return true;
}
