import { type TxContext, transaction } from '../context.ts';
import { wakeWorkers } from './enqueue.ts';
import { describe, failureOf, isOutage, isPermanent, isUnwanted, soonMsOf } from './failure.ts';
import { finishJob, postpone, postponeEnd, stickJob, turnBack } from './queries.ts';
import { ClaimLost, hold, type Running } from './running.ts';
import type { Failure, Step, Verdict } from './saga.ts';

const forwardAttempts = 5;
/** Of an undo or an end, over about three minutes; then the job is staff's. */
const ownAttempts = 12;
const firstPauseMs = 500;
const longestPauseMs = 30_000;
const outagePauseMs = 4_000;

/**
 * Decides after a failed try: pause and try again, or turn back for good. While the database is away or full nothing
 * is said about the step, which is not turned back for that however long it lasts. A job that was held after a restore
 * is left to staff where it stands: what it would take back may have been made since the backup, and be in use.
 */
export async function giveWay(
  running: Running,
  step: Step<unknown, object>,
  error: unknown,
): Promise<Failure | 'left'> {
  if (error instanceof ClaimLost || running.signal.aborted) throw error;
  const { ctx, job, worker, saga } = running;
  const failure: Failure = { step: step.name, ...describe(error) };
  const attempts = job.attempts + triesOf(error);
  const isLast = !isOutage(error) && (isPermanent(error) || attempts >= (step.attempts ?? forwardAttempts));
  // What is waited for on purpose is no news each second.
  const level = soonMsOf(error) === null ? 'warn' : 'debug';
  ctx.log[level]({ job: job.id, saga: saga.name, ...failure, attempts, isLast }, 'step failed');
  const why = { id: job.id, worker, ...columnsOf(failure) };
  if (!isLast) {
    await ctx.db.run(postpone, { ...why, ...pause(running, error) });
    return 'left';
  }
  if (job.is_held && !isUnwanted(error)) {
    await stick(running, failure);
    return 'left';
  }
  if ((await ctx.db.run(turnBack, why)) === 0) throw new ClaimLost();
  Object.assign(job, { direction: 'backward', attempts: 0 });
  Object.assign(job, { error_step: failure.step, error_code: failure.code, error_message: failure.message });
  return failure;
}

/** Ends a job for good, with what the saga does in the same transaction. What is wanted no more is done. */
export async function end(
  running: Running,
  state: 'done' | 'failed',
  hook: (tx: TxContext) => Promise<void> | Promise<Verdict> | undefined,
): Promise<void> {
  const { ctx, job, worker, saga } = running;
  await transaction(ctx, `${saga.name}: ${state}`, async (tx) => {
    await hold(tx, running);
    const ended = (await hook(tx)) === 'unwanted' ? 'done' : state;
    await tx.db.run(finishJob, { id: job.id, worker, state: ended, now: ctx.clock.now() });
  });
}

/**
 * After an error that is no step's: of an undo, of an end, of what should have been written down. Tries again with
 * growing pauses and then leaves the job to staff, unless the database is away: that ends by itself.
 */
export async function stumble(running: Running, at: string, error: unknown): Promise<void> {
  if (error instanceof ClaimLost || running.signal.aborted) return;
  const { ctx, job, worker, saga } = running;
  const failure: Failure = { step: at, ...describe(error) };
  const isLast = !isOutage(error) && (isPermanent(error) || job.attempts + 1 >= ownAttempts);
  ctx.log.error({ err: error, job: job.id, saga: saga.name, at, isLast }, 'a job cannot go on');
  if (isLast) await stick(running, failure);
  else
    await ctx.db.run(postponeEnd, {
      ...{ id: job.id, worker, reason: reasonOf(failure) },
      ...pause(running, error),
    });
}

/** Leaves the job to staff as it stands, and has the saga let go of what others wait for. */
async function stick(running: Running, failure: Failure): Promise<void> {
  const { ctx, job, saga, run } = running;
  const why = job.direction === 'backward' ? failureOf(job) : failure;
  try {
    await transaction(ctx, `${saga.name}: stuck`, async (tx) => {
      await hold(tx, running);
      await saga.stuck?.(tx, run.payload, why);
      await writeStuck(tx, running, failure);
    });
  } catch (error) {
    if (error instanceof ClaimLost || isOutage(error)) throw error;
    ctx.log.error({ err: error, job: job.id, saga: saga.name }, 'a stuck job could not let go');
    await transaction(ctx, `${saga.name}: stuck`, (tx) => writeStuck(tx, running, failure));
  }
}

async function writeStuck(tx: TxContext, { ctx, job, worker }: Running, failure: Failure): Promise<void> {
  const reason = reasonOf(failure);
  await tx.db.run(stickJob, { id: job.id, worker, now: ctx.clock.now(), reason, ...columnsOf(failure) });
}

function columnsOf({ step, code, message }: Failure) {
  return { errorStep: step, errorCode: code, errorMessage: message };
}

function reasonOf({ step, message }: Failure): string {
  return `${step}: ${message}`;
}

/** What an error counts for: an outage of the database is no try of the job. */
function triesOf(error: unknown): 0 | 1 {
  return isOutage(error) ? 0 : 1;
}

/**
 * When to try again: later each time, and never at one moment with others that failed together, which would only
 * meet again.
 */
function pause({ ctx, job }: Running, error: unknown): { runAt: Date; tries: number } {
  const tries = triesOf(error);
  const longestMs =
    tries === 0
      ? (soonMsOf(error) ?? outagePauseMs)
      : Math.min(firstPauseMs * 2 ** job.attempts, longestPauseMs);
  const pauseMs = Math.ceil(longestMs * (0.5 + Math.random() / 2));
  setTimeout(() => wakeWorkers({ name: job.name, nodeId: job.node_id }), pauseMs).unref();
  return { runAt: new Date(ctx.clock.now().getTime() + pauseMs), tries };
}
