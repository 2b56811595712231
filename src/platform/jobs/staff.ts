import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { fail } from '../errors.ts';
import { Choice, Id, IdParams, Nullable, named, routes, Timestamp } from '../http/index.ts';
import { retryFailedJob } from './retry.ts';

interface FailedRow {
  id: number;
  name: string;
  state: 'failed' | 'undoing';
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
  `select id, name, case state when 'failed' then state else 'undoing' end as state, organization_id, payload,
     error_step, error_code, error_message, created_at, finished_at
   from jobs where state = 'failed' or (state <> 'done' and direction = 'backward' and attempts >= 5)
   order by finished_at desc, id desc limit 100`,
);

const Job = named(
  'Job',
  Type.Object({
    id: Id,
    name: Type.String(),
    state: Choice(['failed', 'undoing'], { description: 'undoing: what it did cannot be taken back yet' }),
    organization_id: Nullable(Id),
    payload: Type.Record(Type.String(), Type.Unknown()),
    error_step: Nullable(Type.String()),
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  }),
  'Work that the product does in the background',
);

export const jobStaffRoutes = routes('/staff/jobs', { tag: 'Staff: jobs' }, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listFailedJobs',
      summary: 'List failed jobs',
      data: named('JobList', Type.Object({ jobs: Type.Array(Job) })),
    },
    async (ctx) => ({ jobs: await ctx.db.many(failedJobs) }),
  );
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      operation: 'retryJob',
      summary: 'Retry a failed job',
      params: IdParams,
      data: named('JobRetried', Type.Object({ retried: Type.Boolean() })),
      errors: ['not_found'],
    },
    (ctx, req) => retry(ctx, req.params.id),
  );
});

async function retry(ctx: Context, id: number) {
  return transaction(ctx, 'jobs.retry', async (tx) => {
    if (!(await retryFailedJob(tx, id))) {
      throw fail('not_found', { message: 'There is no failed job with this id' });
    }
    return { retried: true };
  });
}
