import type { TxContext } from '../context.ts';
import { wakeWorkers } from './enqueue.ts';
import { followJobs } from './queries.ts';

/**
 * Has the jobs that are not done, whose payload holds `about` (such as `{ serviceId: 12 }`), belong to another node from now on: what they
 * are about is there. They would wait for the node that it left, which may never be heard of again; so those of staff's list go along as well.
 */
export async function sendJobsAlong(
  tx: TxContext,
  { about, from, to }: { about: object; from: number; to: number },
): Promise<void> {
  if (from === to) return;
  for (const { name } of await tx.db.many(followJobs, { about, from, to }))
    tx.db.afterCommit(() => wakeWorkers({ name, nodeId: to }));
}
