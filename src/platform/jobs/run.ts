import { atBoundary, failIfAsked, stepRuns } from '../boundary.ts';
import { type Context, type TxContext, transaction } from '../context.ts';
import type { Drivers } from '../drivers.ts';
import { AppError } from '../errors.ts';
import {
  finishJob,
  holdClaim,
  type JobRow,
  postpone,
  recordStep,
  resetAttempts,
  stepsOf,
  turnBack,
} from './queries.ts';
import type { AnySaga, Failure, Run, Saga, Step } from './saga.ts';

/** The runner lost its claim on a job: somebody else goes on with it, and this run records nothing more. */
export class ClaimLost extends Error {}

const forwardAttempts = 5;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

interface Ledger {
  done: Set<string>;
  undone: Set<string>;
  state: object;
}

interface Running {
  ctx: Context;
  job: JobRow;
  worker: number;
  saga: Saga<unknown, object>;
  ledger: Ledger;
  run: Run<unknown, object>;
}

/**
 * Runs one claimed job to its end, to a pause, or to the point where the claim is lost. Finished steps are
 * skipped, so a job goes on where a crash left it; the step that was under way runs again.
 */
export async function runJob(
  means: { ctx: Context; drivers: Drivers; signal: AbortSignal },
  job: JobRow,
  saga: AnySaga,
  worker: number,
): Promise<void> {
  const { ctx } = means;
  const ledger = await readLedger(ctx, job.id);
  const run: Run<unknown, object> = { ...means, jobId: job.id, payload: job.payload, state: ledger.state };
  const running: Running = { ctx, job, worker, saga: saga as unknown as Saga<unknown, object>, ledger, run };
  const failure = job.direction === 'forward' ? await forward(running) : failureOf(job);
  if (failure === 'paused' || failure === null) return;
  await backward(running, failure);
}

async function readLedger(ctx: Context, jobId: number): Promise<Ledger> {
  const ledger: Ledger = { done: new Set(), undone: new Set(), state: {} };
  for (const row of await ctx.db.many(stepsOf, { jobId })) {
    ledger[row.state].add(row.step);
    Object.assign(ledger.state, row.result);
  }
  return ledger;
}

function failureOf(job: JobRow): Failure {
  return { step: job.error_step ?? '', code: job.error_code ?? 'failed', message: job.error_message ?? '' };
}

async function forward(running: Running): Promise<Failure | 'paused' | null> {
  const { saga, ledger, run } = running;
  for (const [index, step] of saga.steps.entries()) {
    if (ledger.done.has(step.name)) continue;
    run.signal.throwIfAborted();
    try {
      await saga.progress?.(run, index, saga.steps.length);
      await act(running, step);
    } catch (error) {
      return await giveWay(running, step, error);
    }
    running.job.attempts = 0;
  }
  await end(running, 'done', (tx) => saga.succeeded?.(tx, run.payload, run.state));
  return null;
}

async function act(running: Running, step: Step<unknown, object>): Promise<void> {
  const { saga, run, ledger } = running;
  const name = `${saga.name}/${step.name}`;
  await atBoundary(`${name}: before do`);
  let result: object = {};
  for (let time = 0; time < stepRuns; time += 1) {
    result = (await step.action(run)) ?? {};
    Object.assign(ledger.state, result);
  }
  failIfAsked(name);
  await atBoundary(`${name}: after do`);
  await record(running, step, 'done', result);
  ledger.done.add(step.name);
  await atBoundary(`${name}: recorded`);
}

/** Decides after a failed try: pause and try again, or turn back for good. */
async function giveWay(
  running: Running,
  step: Step<unknown, object>,
  error: unknown,
): Promise<Failure | 'paused'> {
  if (error instanceof ClaimLost || running.run.signal.aborted) throw error;
  const { ctx, job, worker } = running;
  const failure: Failure = { step: step.name, ...describe(error) };
  const isLast = isPermanent(error) || job.attempts + 1 >= (step.attempts ?? forwardAttempts);
  ctx.log.warn(
    { job: job.id, saga: running.saga.name, ...failure, attempts: job.attempts + 1, isLast },
    'step failed',
  );
  if (!isLast) {
    await pause(running, failure);
    return 'paused';
  }
  const held = await ctx.db.run(turnBack, {
    id: job.id,
    worker,
    errorStep: failure.step,
    errorCode: failure.code,
    errorMessage: failure.message,
  });
  if (held === 0) throw new ClaimLost();
  job.attempts = 0;
  return failure;
}

async function backward(running: Running, failure: Failure): Promise<void> {
  const { saga, run, ledger, ctx, job } = running;
  for (const step of saga.steps.toReversed()) {
    // The step that failed may have left something too, so only what was never begun is left out.
    const begun = ledger.done.has(step.name) || step.name === failure.step;
    if (!begun || !step.undo || ledger.undone.has(step.name)) continue;
    run.signal.throwIfAborted();
    try {
      await takeBack(running, step, step.undo);
    } catch (error) {
      if (error instanceof ClaimLost || run.signal.aborted) throw error;
      // Never given up and never passed over: an address given back while its machine still runs would be
      // somebody else's a day later. Until it works the job stays open, where staff sees it.
      ctx.log.error({ job: job.id, saga: saga.name, step: step.name, ...describe(error) }, 'undo failed');
      return await pause(running, failure);
    }
    job.attempts = 0;
  }
  await end(running, 'failed', (tx) => saga.failed?.(tx, run.payload, failure));
}

async function takeBack(
  running: Running,
  step: Step<unknown, object>,
  undo: NonNullable<Step<unknown, object>['undo']>,
): Promise<void> {
  const name = `${running.saga.name}/${step.name}`;
  await atBoundary(`${name}: before undo`);
  for (let time = 0; time < stepRuns; time += 1) await undo(running.run);
  await atBoundary(`${name}: after undo`);
  await record(running, step, 'undone', {});
  running.ledger.undone.add(step.name);
  await atBoundary(`${name}: undone`);
}

async function record(
  running: Running,
  step: Step<unknown, object>,
  state: 'done' | 'undone',
  result: object,
): Promise<void> {
  const { ctx, job, worker, saga } = running;
  await transaction(ctx, `${saga.name}/${step.name}: record ${state}`, async (tx) => {
    if ((await tx.db.maybe(holdClaim, { id: job.id, worker })) === null) throw new ClaimLost();
    await tx.db.run(recordStep, { jobId: job.id, step: step.name, state, result, now: ctx.clock.now() });
    if (job.attempts > 0) await tx.db.run(resetAttempts, { id: job.id });
  });
}

async function pause(running: Running, failure: Failure): Promise<void> {
  const { ctx, job, worker } = running;
  const pauseMs = Math.min(firstPauseMs * 2 ** job.attempts, longestPauseMs);
  const runAt = new Date(ctx.clock.now().getTime() + pauseMs);
  await ctx.db.run(postpone, {
    id: job.id,
    worker,
    runAt,
    errorStep: failure.step,
    errorCode: failure.code,
    errorMessage: failure.message,
  });
}

async function end(
  running: Running,
  state: 'done' | 'failed',
  hook: (tx: TxContext) => Promise<void> | undefined,
): Promise<void> {
  const { ctx, job, worker, saga } = running;
  await transaction(ctx, `${saga.name}: ${state}`, async (tx) => {
    if ((await tx.db.maybe(holdClaim, { id: job.id, worker })) === null) throw new ClaimLost();
    await hook(tx);
    await tx.db.run(finishJob, { id: job.id, worker, state, now: ctx.clock.now() });
  });
}

function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true;
}

function describe(error: unknown): { code: string; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'failed', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
  return { code, message: error.message };
}
