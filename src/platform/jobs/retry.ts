import type { Context, TxContext } from '../context.ts';
import { wakeWorkers } from './enqueue.ts';
import {
  type EndedJob,
  forgetSteps,
  goOn,
  type JobState,
  lockEnded,
  lockEndedAbout,
  settleFailedAbout,
  startAgain,
  stateAbout,
} from './queries.ts';
import type { SagaFor } from './saga.ts';

/**
 * Has a failed job run again from its first step, since everything it had done was undone when it failed; a stuck
 * one goes on where it stood. False when there is no such job with this id.
 */
export async function retryFailedJob(ctx: TxContext, id: number): Promise<boolean> {
  return again(ctx, await ctx.db.maybe(lockEnded, { id }));
}

/** The same for the saga's newest failed or stuck job whose payload holds `about`, such as `{ serviceId: 12 }`. */
export async function retryFailedJobAbout<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<boolean> {
  return again(ctx, await ctx.db.maybe(lockEndedAbout, { name, about }));
}

/** Takes failed jobs of a saga, all of whose work was undone, out of staff's list: what they were for is wanted no more. */
export async function settleFailedJobAbout<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<void> {
  await ctx.db.run(settleFailedAbout, { name, about });
}

/** How the saga's newest job stands whose payload holds `about`; null when there is none (any more). */
export async function jobStateAbout<Payload extends object>(
  ctx: Context,
  { name }: SagaFor<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<JobState | null> {
  return (await ctx.db.maybe(stateAbout, { name, about }))?.state ?? null;
}

async function again(ctx: TxContext, job: EndedJob | null): Promise<boolean> {
  if (job === null) return false;
  const now = ctx.clock.now();
  if (job.state === 'failed') {
    await ctx.db.run(forgetSteps, { jobId: job.id });
    await ctx.db.run(startAgain, { id: job.id, now });
  } else {
    await ctx.db.run(goOn, { id: job.id, now });
  }
  ctx.db.afterCommit(() => wakeWorkers({ name: job.name, nodeId: null }));
  return true;
}
