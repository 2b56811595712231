import type { TxContext } from '../context.ts';
import type { DriverName } from '../drivers.ts';
import { atFailpoint, failIfAsked } from '../failpoint.ts';
import { asResult } from './failure.ts';
import { finishJob, recordStep, resetAttempts } from './queries.ts';
import { ClaimLost, hold, move, type Running, write } from './running.ts';
import type { TransactionalStep } from './saga.ts';

/** Transactional steps that stand side by side, and whether the job ends with them. */
interface Together {
  steps: readonly TransactionalStep<unknown, object>[];
  isEnd: boolean;
}

/** The transactional steps from a step of the saga on. */
export function togetherFrom({ saga }: Running, index: number): Together {
  const steps: TransactionalStep<unknown, object>[] = [];
  for (const step of saga.steps.slice(index)) {
    if (!step.transactional) break;
    steps.push(step);
  }
  return { steps, isEnd: index + steps.length === saga.steps.length };
}

/** Does the steps, records them, and ends the job if it ends with them, all in one transaction. */
export async function actTogether(running: Running, { steps, isEnd }: Together): Promise<void> {
  const { saga, stepLog: ledger, job } = running;
  const name = isEnd ? `${saga.name}: done` : `${saga.name}/${steps.at(-1)?.name}: record done`;
  const state = await write(running, name, async (tx) => {
    ledger.movesTo = null; // of a try that was rolled back
    // Sent ahead of all that the steps send, which is rolled back where the claim turns out to be lost.
    const claim = isEnd ? finish(tx, running) : hold(tx, running);
    const found = await actUnder(claim, async () => {
      const state = { ...ledger.state };
      for (const step of steps) {
        const result = await act(tx, running, step, state);
        Object.assign(state, result);
        if (!isEnd) await record(tx, running, step.name, result);
      }
      return state;
    });
    if (isEnd) await succeed(tx, running, found);
    else if (job.attempts > 0) await tx.db.run(resetAttempts, { id: job.id });
    await move(tx, running);
    return found;
  });
  Object.assign(ledger.state, state);
  for (const step of steps) {
    ledger.done.add(step.name);
    await atFailpoint(`${saga.name}/${step.name}: recorded`);
  }
}

/** What `work` gives, unless the claim is lost, which is what counts then. */
async function actUnder<T>(claim: Promise<void>, work: () => Promise<T>): Promise<T> {
  const [held, done] = await Promise.allSettled([claim, work()]);
  if (held.status === 'rejected') throw held.reason;
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}

async function act(
  tx: TxContext,
  running: Running,
  step: TransactionalStep<unknown, object>,
  state: object,
): Promise<object> {
  const { saga, run } = running;
  const name = `${saga.name}/${step.name}`;
  running.current = step;
  await atFailpoint(`${name}: before do`);
  const { jobId, payload, signal, isHeld, moveTo } = run;
  const can = (driver: DriverName, capability: string) => canDo(run.drivers[driver], capability);
  const result = (await step.do({ ctx: tx, jobId, payload, state, signal, isHeld, moveTo, can })) ?? {};
  failIfAsked(name);
  await atFailpoint(`${name}: after do`);
  return asResult(result);
}

async function record(tx: TxContext, { job, ctx }: Running, step: string, result: object): Promise<void> {
  await tx.db.run(recordStep, { jobId: job.id, step, state: 'done', result, now: ctx.clock.now() });
}

function canDo(driver: unknown, capability: string): boolean {
  return (driver as { capabilities?: readonly string[] }).capabilities?.includes(capability) ?? false;
}

// Sent first of all, since it fences too: the row is this transaction's until it commits.
async function finish(tx: TxContext, { job, worker, ctx }: Running): Promise<void> {
  if ((await tx.db.run(finishJob, { id: job.id, worker, state: 'done', now: ctx.clock.now() })) === 0)
    throw new ClaimLost();
}

async function succeed(tx: TxContext, running: Running, state: object): Promise<void> {
  const last = running.current;
  running.current = null;
  await running.saga.succeeded?.(tx, running.run.payload, state);
  running.current = last;
}
