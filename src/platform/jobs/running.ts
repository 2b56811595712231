import { type Context, type TxContext, transaction } from '../context.ts';
import type { Drivers } from '../drivers.ts';
import type { Company } from './company.ts';
import { wakeWorkers } from './enqueue.ts';
import { holdClaim, type JobRow, moveJob } from './queries.ts';
import type { Run, Saga, Step } from './saga.ts';

/** The runner lost its claim on a job: somebody else goes on with it, and this run records nothing more. */
export class ClaimLost extends Error {}

/** What a worker runs its jobs with. */
export interface Means {
  ctx: Context;
  drivers: Drivers;
  /** Its number, by which it claims. */
  worker: number;
  /** The nodes whose jobs it runs. */
  nodes: readonly number[];
  signal: AbortSignal;
  /** With whom its jobs go in step; null for those that go by themselves. */
  company: Company | null;
}

/** What is known of a job's steps. */
export interface StepLog {
  done: Set<string>;
  undone: Set<string>;
  state: object;
  /** Node that a step moved the job to; null when none did. */
  movesTo: number | null;
}

/** A job under way. */
export interface Running extends Means {
  job: JobRow;
  saga: Saga<unknown, object>;
  stepLog: StepLog;
  run: Run<unknown, object>;
  /** The step whose failure it would be; null outside of steps. */
  current: Step<unknown, object> | null;
}

/**
 * What a job writes down in one transaction: with others where they go in step, unless it has failed this way before and would
 * hold them up.
 */
export function write<T>(running: Running, name: string, work: (tx: TxContext) => Promise<T>): Promise<T> {
  const { ctx, company, job } = running;
  const { organization_id: organizationId } = job;
  if (company === null || organizationId === null || job.attempts > 0) return transaction(ctx, name, work);
  return company.transaction(ctx, name, organizationId, work);
}

/** Fences a transaction: a worker that lost its claim writes nothing. */
export async function hold(tx: TxContext, { job, worker }: Running): Promise<void> {
  if ((await tx.db.maybe(holdClaim, { id: job.id, worker })) === null) throw new ClaimLost();
}

/** Whether a step moved the job to a node that another worker runs. */
export function isElsewhere({ stepLog: ledger, nodes }: Running): boolean {
  return ledger.movesTo !== null && !nodes.includes(ledger.movesTo);
}

/** Writes down where a step moved the job to, in the transaction that records the step. */
export async function move(tx: TxContext, running: Running): Promise<void> {
  const { job, stepLog: ledger } = running;
  const nodeId = ledger.movesTo;
  if (nodeId === null) return;
  await tx.db.run(moveJob, { id: job.id, nodeId, leaves: isElsewhere(running) });
  if (isElsewhere(running)) tx.db.afterCommit(() => wakeWorkers({ name: job.name, nodeId }));
}
