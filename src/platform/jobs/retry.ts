import type { Context, TxContext } from '../context.ts';
import { fail } from '../errors.ts';
import { wakeWorkers } from './enqueue.ts';
import type { NamedJob } from './named.ts';
import {
  type DismissedJob,
  dismiss,
  type EndedJob,
  forgetSteps,
  goOn,
  isUnderWay,
  lockEnded,
  lockEndedAbout,
  openAbout,
  settleEndedAbout,
  settleFailedAbout,
  startAgain,
  unfinished,
  unfinishedAbout,
} from './queries.ts';
import type { AnySaga, SagaFor } from './saga.ts';

/**
 * Has a failed job run again from its first step, since everything it had done was undone when it failed; a stuck
 * one goes on where it stood. Gives what it was until now. `not_found`.
 */
export async function retryFailedJob(ctx: TxContext, id: number): Promise<EndedJob> {
  const ended = await ctx.db.maybe(lockEnded, { id });
  if (ended === null) throw fail('not_found', { message: noSuchJob });
  await again(ctx, ended);
  return ended;
}

const noSuchJob = 'There is no failed or stuck job with this id';

/**
 * Takes a failed or stuck job out of staff's list, since somebody has seen to it by other means. It can still be
 * retried, by what it is about or by its id, for a week. `not_found`; `conflict` for one that is still under way.
 */
export async function dismissJob(ctx: TxContext, id: number): Promise<DismissedJob> {
  const dismissed = await ctx.db.maybe(dismiss, { id, now: ctx.clock.now() });
  if (dismissed !== null) return dismissed;
  if ((await ctx.db.maybe(isUnderWay, { id })) === null) throw fail('not_found', { message: noSuchJob });
  throw fail('conflict', {
    message: 'This job is still under way; only one that failed or is stuck can be dismissed',
  });
}

/** The same for the saga's newest failed or stuck job whose payload holds `about`, such as `{ serviceId: 12 }`. */
export async function retryFailedJobAbout<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<boolean> {
  const ended = await ctx.db.maybe(lockEndedAbout, { name, about });
  if (ended !== null) await again(ctx, ended);
  return ended !== null;
}

/** Takes failed jobs of a saga, all of whose work was undone, out of staff's list: what they were for is wanted no more. */
export async function settleFailedJobAbout<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload> | NamedJob<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<void> {
  await ctx.db.run(settleFailedAbout, { name, about });
}

/** The same of those that are stuck as well: the caller has seen to what they had done and not undone, and nobody goes on with them. */
export async function settleEndedJobAbout<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<void> {
  await ctx.db.run(settleEndedAbout, { name, about });
}

/** Whether a job of the saga waits or runs whose payload holds `about`. */
export async function isJobOpenAbout<Payload extends object>(
  ctx: Context,
  { name }: SagaFor<Payload> | NamedJob<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<boolean> {
  return (await ctx.db.maybe(openAbout, { name, about })) !== null;
}

/** Whether a job of the saga whose payload holds `about` waits or runs, or has failed and nobody has dismissed it. */
export async function isJobUnfinishedAbout<Payload extends object>(
  ctx: Context,
  { name }: SagaFor<Payload> | NamedJob<Payload>,
  about: NoInfer<Partial<Payload>>,
): Promise<boolean> {
  return (await ctx.db.maybe(unfinishedAbout, { name, about })) !== null;
}

/** How many jobs of a saga that were asked for until then have not ended well, and that nobody has dismissed. */
export async function countUnfinished(
  ctx: Context,
  { name }: Pick<AnySaga, 'name'>,
  until: Date,
): Promise<number> {
  return (await ctx.db.one(unfinished, { name, until })).jobs;
}

async function again(ctx: TxContext, job: EndedJob): Promise<void> {
  const now = ctx.clock.now();
  if (job.state === 'failed') {
    await ctx.db.run(forgetSteps, { jobId: job.id });
    await ctx.db.run(startAgain, { id: job.id, now });
  } else {
    await ctx.db.run(goOn, { id: job.id, now });
  }
  ctx.db.afterCommit(() => wakeWorkers({ name: job.name, nodeId: null }));
}
