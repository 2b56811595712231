import type { TxContext } from '../context.ts';
import { atFailpoint, failIfAsked, stepRuns } from '../failpoint.ts';
import { end, giveWay, stumble } from './ends.ts';
import { asResult, failureOf } from './failure.ts';
import { type JobRow, recordStep, resetAttempts } from './queries.ts';
import { hold, isElsewhere, type Means, move, type Running, type StepLog, write } from './running.ts';
import type { AnySaga, Failure, OutsideStep, Run, Saga, Step } from './saga.ts';
import { actTogether, togetherFrom } from './together.ts';

/**
 * Runs one claimed job to its end, to a pause, or to the point where the claim is lost. Finished steps are
 * skipped, so a job goes on where a crash left it; the step that was under way runs again.
 */
export async function runJob(means: Means, job: JobRow, saga: AnySaga): Promise<void> {
  const running = open(means, job, saga as unknown as Saga<unknown, object>);
  try {
    const failure = job.direction === 'forward' ? await forward(running) : failureOf(job);
    if (failure !== 'left') await backward(running, failure);
  } catch (error) {
    await stumble(running, running.current?.name ?? 'end', error);
  }
}

function open(means: Means, job: JobRow, saga: Saga<unknown, object>): Running {
  const { ctx, drivers, signal } = means;
  const ledger: StepLog = { done: new Set(), undone: new Set(), state: {}, movesTo: null };
  for (const row of job.steps ?? []) {
    ledger[row.state].add(row.step);
    Object.assign(ledger.state, row.result);
  }
  const moveTo = (nodeId: number) => {
    ledger.movesTo = nodeId;
  };
  const { payload } = job;
  const run: Run<unknown, object> = {
    ctx,
    drivers,
    signal,
    isHeld: job.is_held,
    jobId: job.id,
    payload,
    state: ledger.state,
    moveTo,
  };
  return { ...means, job, saga, stepLog: ledger, run, current: null };
}

/** Does what is not done yet. `left`: the job has ended, waits for its next try, or goes on elsewhere. */
async function forward(running: Running): Promise<Failure | 'left'> {
  const { saga, stepLog: ledger, run, job } = running;
  for (const [index, step] of saga.steps.entries()) {
    if (ledger.done.has(step.name)) continue;
    run.signal.throwIfAborted();
    running.current = step;
    try {
      await saga.progress?.(run, index, saga.steps.length);
      if (!step.transactional) await act(running, step);
      else {
        const together = togetherFrom(running, index);
        await actTogether(running, together);
        if (together.isEnd) return 'left';
      }
    } catch (error) {
      if (running.current === null) throw error;
      return await giveWay(running, running.current, error);
    }
    job.attempts = 0;
    if (isElsewhere(running)) return 'left';
    ledger.movesTo = null;
  }
  running.current = null;
  await end(running, 'done', (tx) => saga.succeeded?.(tx, run.payload, run.state));
  return 'left';
}

async function act(running: Running, step: OutsideStep<unknown, object>): Promise<void> {
  const { saga, run, stepLog: ledger } = running;
  const name = `${saga.name}/${step.name}`;
  await atFailpoint(`${name}: before do`);
  let result: object = {};
  for (let time = 0; time < stepRuns; time += 1) {
    result = asResult((await step.do(run)) ?? {});
    Object.assign(ledger.state, result);
  }
  failIfAsked(name);
  await atFailpoint(`${name}: after do`);
  await record(running, step, 'done', result, (tx) => step.recorded?.(tx, run.payload, result));
  ledger.done.add(step.name);
  await atFailpoint(`${name}: recorded`);
}

async function backward(running: Running, failure: Failure): Promise<void> {
  const { saga, run, stepLog: ledger, job } = running;
  ledger.movesTo = null;
  for (const step of saga.steps.toReversed()) {
    // The step that failed may have left something too, so only what was never begun is left out.
    const begun = ledger.done.has(step.name) || step.name === failure.step;
    if (!begun || !step.undo || ledger.undone.has(step.name)) continue;
    run.signal.throwIfAborted();
    running.current = step;
    // Never passed over: an address given back while its machine still runs would be somebody else's a day later.
    await takeBack(running, step, step.undo);
    job.attempts = 0;
  }
  running.current = null;
  await end(running, 'failed', (tx) => saga.failed?.(tx, run.payload, failure));
}

async function takeBack(
  running: Running,
  step: Step<unknown, object>,
  undo: NonNullable<Step<unknown, object>['undo']>,
): Promise<void> {
  const name = `${running.saga.name}/${step.name}`;
  await atFailpoint(`${name}: before undo`);
  for (let time = 0; time < stepRuns; time += 1) await undo(running.run);
  await atFailpoint(`${name}: after undo`);
  await record(running, step, 'undone', {});
  running.stepLog.undone.add(step.name);
  await atFailpoint(`${name}: undone`);
}

async function record(
  running: Running,
  step: Step<unknown, object>,
  state: 'done' | 'undone',
  result: object,
  more: (tx: TxContext) => Promise<void> | undefined = async () => undefined,
): Promise<void> {
  const { ctx, job, saga } = running;
  await write(running, `${saga.name}/${step.name}: record ${state}`, async (tx) => {
    await hold(tx, running);
    await more(tx);
    await tx.db.run(recordStep, { jobId: job.id, step: step.name, state, result, now: ctx.clock.now() });
    if (job.attempts > 0) await tx.db.run(resetAttempts, { id: job.id });
    await move(tx, running);
  });
}
