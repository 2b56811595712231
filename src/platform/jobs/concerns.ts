import type { Concern, ConcernSource } from '../attention.ts';
import { statement } from '../database/index.ts';

/** Jobs that go no further by themselves. */
export const jobConcerns: ConcernSource[] = [
  {
    kind: 'job.failed',
    subject: 'job',
    title: 'Jobs that failed or are stuck',
    find: statement<Concern, { limit: number }>(
      'jobs.concerns',
      `select id, organization_id, finished_at as since,
         concat_ws(': ', name || coalesce('/' || error_step, ''), coalesce(stuck_reason, error_message)) as message
       from jobs where state in ('failed', 'stuck') order by finished_at desc, id desc limit :limit`,
    ),
  },
];
