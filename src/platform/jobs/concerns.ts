import type { Concern, ConcernSource } from '../attention.ts';
import { statement } from '../database/index.ts';
import { silentAfterS } from './workers.ts';

/** Jobs that go no further by themselves, and that nobody does any. */
export const jobConcerns: ConcernSource[] = [
  {
    kind: 'job.failed',
    subject: 'job',
    title: 'Jobs that failed or are stuck',
    find: statement<Concern, { limit: number }>(
      'jobs.concerns',
      `select id, organization_id, finished_at as since,
         concat_ws(': ', name || coalesce('/' || error_step, ''), coalesce(stuck_reason, error_message)) as message
       from jobs where state in ('failed', 'stuck') and dismissed_at is null order by finished_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'job.retrying',
    subject: 'job',
    title: 'Jobs that cannot end',
    find: statement<Concern, { limit: number }>(
      'jobs.retryingConcerns',
      `select id, organization_id, created_at as since, concat(name, ', tried ', attempts, ' times: ', stuck_reason) as message
       from jobs where state in ('ready', 'running') and stuck_reason is not null and attempts >= 5
       order by id desc limit :limit`,
    ),
  },
  {
    kind: 'job.set_aside',
    subject: 'row',
    title: 'What periodic jobs cannot do anything about',
    find: statement<Concern, { limit: number }>(
      'jobs.setAsideConcerns',
      `select row_id as id, organization_id, since, job || ' of ' || row_id || ', tried every hour: ' || problem as message
       from set_aside order by since desc, row_id desc limit :limit`,
    ),
  },
  {
    kind: 'worker.away',
    subject: 'worker',
    title: 'Nothing is delivered, because no worker runs',
    // Where there never was one, a job that waits says that there should be.
    find: statement<Concern, { limit: number; now: Date }>(
      'jobs.awayConcerns',
      `select id, null::bigint as organization_id, last as since,
         'no worker was heard of for a minute: orders are paid and not delivered until one runs' as message
       from (
         (select number as id, seen_at as last from workers order by seen_at desc, number desc limit 1)
         union all
         (select 1, run_at from jobs where state = 'ready' and not exists (select from workers) order by run_at limit 1)
       ) heard
       where last < :now::timestamptz - make_interval(secs => ${silentAfterS}) limit :limit`,
    ),
  },
];
