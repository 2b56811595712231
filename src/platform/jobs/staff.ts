import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { fail } from '../errors.ts';
import { Choice, Id, IdParams, Nullable, named, routes, Timestamp } from '../http/index.ts';
import { examples } from './examples.ts';
import { retryFailedJob } from './retry.ts';
import { servedClass } from './served.ts';

interface FailedRow {
  id: number;
  name: string;
  state: 'failed' | 'stuck' | 'undoing' | 'waiting';
  organization_id: number | null;
  node_id: number | null;
  payload: Record<string, unknown>;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
  stuck_reason: string | null;
  created_at: Date;
  finished_at: Date | null;
}

// What ended badly, what cannot be taken back yet, and what waits for a node that no worker serves.
const failedJobs = statement<FailedRow, { servedClass: number }>(
  'jobs.failed',
  `select id, name, shown as state, organization_id, node_id, payload, error_step, error_code, error_message,
     stuck_reason, created_at, finished_at
   from (
     (select *, state as shown from jobs where state in ('failed', 'stuck')
      order by finished_at desc, id desc limit 100)
     union all
     (select *, case when direction = 'backward' and attempts >= 5 then 'undoing' else 'waiting' end from jobs j
      where (state = 'ready' and (direction = 'backward' and attempts >= 5 or node_id <> all (array(
               select objid::bigint from pg_locks where locktype = 'advisory' and classid = :servedClass::int::oid
                 and objsubid = 2 and granted
                 and database = (select oid from pg_database where datname = current_database())))))
        or (state = 'running' and direction = 'backward' and attempts >= 5)
      order by id desc limit 100)) found
   order by finished_at desc, id desc limit 100`,
);

const Job = named(
  'Job',
  Type.Object({
    id: Id,
    name: Type.String(),
    state: Choice(['failed', 'stuck', 'undoing', 'waiting'], {
      description:
        'failed: what it did was taken back; stuck: it stands still where it is; undoing: what it did cannot be taken back yet; waiting: no worker serves its node',
    }),
    organization_id: Nullable(Id),
    node_id: Nullable(Id),
    payload: Type.Record(Type.String(), Type.Unknown()),
    error_step: Nullable(Type.String()),
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    stuck_reason: Nullable(Type.String()),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  }),
  'Work that the product does in the background',
);

const group = { tag: 'Staff: jobs', about: 'Background work that failed.', examples };

export const jobStaffRoutes = routes('/staff/jobs', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listFailedJobs',
      summary: 'List failed jobs',
      description: 'Jobs that gave up, and what went wrong.',
      data: named('JobList', Type.Object({ jobs: Type.Array(Job) })),
    },
    async (ctx) => ({ jobs: await ctx.db.many(failedJobs, { servedClass }) }),
  );
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      operation: 'retryJob',
      summary: 'Retry a failed job',
      description: 'Lets a job that failed begin again.',
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
      throw fail('not_found', { message: 'There is no failed or stuck job with this id' });
    }
    return { retried: true };
  });
}
