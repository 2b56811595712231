import type { TxContext } from '../context.ts';
import type { NamedJob } from './named.ts';
import { insertJob } from './queries.ts';
import type { SagaFor } from './saga.ts';

export interface EnqueueOptions {
  organizationId?: number | null;
  /** Not before this moment. Default: now. */
  runAt?: Date;
  /** The only node whose worker can do it. Default: anyone. */
  nodeId?: number;
}

/**
 * Asks for a job, in the transaction that decides it: the job exists when the transaction commits, and the
 * worker of this process is woken at that moment. Returns the job's id.
 */
export async function enqueue<Payload extends object>(
  ctx: TxContext,
  { name }: SagaFor<Payload> | NamedJob<Payload>,
  payload: NoInfer<Payload>,
  options: EnqueueOptions = {},
): Promise<number> {
  const now = ctx.clock.now();
  const { runAt: notBefore = null, nodeId = null } = options;
  const organizationId = options.organizationId === undefined ? ctx.organizationId : options.organizationId;
  const row = await ctx.db.one(insertJob, { name, organizationId, payload, notBefore, now, nodeId });
  ctx.db.afterCommit(() => wakeWorkers({ name, nodeId }));
  return row.id;
}

/** What a job that became ready tells whoever waits for work. */
export interface Ready {
  name: string;
  nodeId: number | null;
}

const listeners = new Set<(job: Ready) => void>();

/** Tells this process that a job became ready. */
export function wakeWorkers(job: Ready): void {
  for (const wake of listeners) wake(job);
}

/** Has `wake` called whenever this process committed a job. Returns how to stop. */
export function onEnqueued(wake: (job: Ready) => void): () => void {
  listeners.add(wake);
  return () => listeners.delete(wake);
}
