import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { fail } from '../errors.ts';
import { Id, IdParams, Nullable, routes, Timestamp } from '../http/index.ts';
import { wakeWorkers } from './enqueue.ts';
import { forgetSteps, retryJob } from './queries.ts';

interface FailedRow {
  id: number;
  name: string;
  organization_id: number | null;
  payload: Record<string, unknown>;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
  created_at: Date;
  finished_at: Date | null;
}

const failedJobs = statement<FailedRow>(
  'jobs.failed',
  `select id, name, organization_id, payload, error_step, error_code, error_message, created_at, finished_at
   from jobs where state = 'failed' order by finished_at desc, id desc limit 100`,
);

const Job = Type.Object({
  id: Id,
  name: Type.String(),
  organization_id: Nullable(Id),
  payload: Type.Record(Type.String(), Type.Unknown()),
  error_step: Nullable(Type.String()),
  error_code: Nullable(Type.String()),
  error_message: Nullable(Type.String()),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
});

export const jobStaffRoutes = routes('/staff/jobs', { tag: 'Staff: jobs' }, (route) => {
  route.get(
    '',
    { auth: 'staff', summary: 'List failed jobs', data: Type.Object({ jobs: Type.Array(Job) }) },
    async (ctx) => ({ jobs: await ctx.db.many(failedJobs) }),
  );
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      summary: 'Retry a failed job',
      params: IdParams,
      data: Type.Object({ retried: Type.Boolean() }),
      errors: ['not_found'],
    },
    (ctx, req) => retry(ctx, req.params.id),
  );
});

/** Runs a failed job again from its first step; everything it had done was undone when it failed. */
async function retry(ctx: Context, id: number) {
  return transaction(ctx, 'jobs.retry', async (tx) => {
    const job = await tx.db.maybe(retryJob, id, tx.clock.now());
    if (job === null) throw fail('not_found', { message: 'There is no failed job with this id' });
    await tx.db.run(forgetSteps, id);
    tx.db.afterCommit(wakeWorkers);
    return { retried: true };
  });
}
