import { Type } from 'typebox';
import type { Context } from '../context.ts';
import {
  Choice,
  Id,
  ListQuery,
  type ListRequest,
  listData,
  listOf,
  Nullable,
  named,
  pagedList,
  routes,
  SortBy,
  Timestamp,
} from '../http/index.ts';
import { examples } from './examples.ts';
import { servedClass } from './served.ts';

interface FailedRow {
  id: number;
  name: string;
  state: 'failed' | 'stuck' | 'undoing' | 'retrying' | 'waiting';
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

// What ended badly, what cannot be taken back yet, what cannot end, and what waits for a node that no worker serves: each
// by an index of its own.
const shownJobs = `
  select *, state as shown from jobs where state in ('failed', 'stuck') and dismissed_at is null
  union all
  select *, case direction when 'backward' then 'undoing' else 'retrying' end from jobs
  where state in ('ready', 'running') and stuck_reason is not null and attempts >= 5
  union all
  select *, 'waiting' from jobs where state = 'ready' and not (stuck_reason is not null and attempts >= 5)
    and node_id <> all (array(
      select objid::bigint from pg_locks where locktype = 'advisory' and classid = :servedClass::int::oid
        and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())))`;

const failedJobs = pagedList<FailedRow>({
  name: 'jobs.failed',
  from: `(${shownJobs}) t`,
  select: `
    select t.id, t.name, t.shown as state, t.organization_id, t.node_id, t.payload, t.error_step, t.error_code,
      t.error_message, t.stuck_reason, t.created_at, t.finished_at from (${shownJobs}) t`,
  // Jobs are numbered in the order in which they were enqueued.
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: null },
  order: '-created_at',
});

const Job = named(
  'Job',
  Type.Object({
    id: Id,
    name: Type.String(),
    state: Choice(['failed', 'stuck', 'undoing', 'retrying', 'waiting'], {
      description:
        'failed: what it did was taken back; stuck: it stands still where it is; undoing: what it did cannot be taken back yet; retrying: what it did cannot be written down yet; waiting: no worker serves its node',
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
      query: ListQuery({ sort: SortBy(['created_at'], '-created_at') }),
      data: named('JobList', listOf('jobs', Job)),
    },
    (ctx, req) => listFailed(ctx, req.query),
  );
});

async function listFailed(ctx: Context, query: ListRequest) {
  const { rows, at } = await failedJobs(ctx, query, { servedClass });
  return listData('jobs', rows, at);
}
