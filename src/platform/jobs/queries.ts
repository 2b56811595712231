import { statement } from '../database/index.ts';

export interface JobRow {
  id: number;
  name: string;
  organization_id: number | null;
  payload: unknown;
  direction: 'forward' | 'backward';
  attempts: number;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
}

export const insertJob = statement<{ id: number }>(
  'jobs.insert',
  `insert into jobs (name, organization_id, payload, run_at, created_at)
   values ($1, $2, $3, $4, $5) returning id`,
);

export const newWorkerNumber = statement<{ number: number }>(
  'jobs.newWorkerNumber',
  `select nextval('worker_numbers')::int as number`,
);

/**
 * Takes ready jobs of some kinds for this worker, the oldest first; two workers never get the same one. Each kind is
 * asked by itself, so that a claim costs the same however much of other kinds waits.
 */
export const claimJobs = statement<JobRow>(
  'jobs.claim',
  `update jobs set state = 'running', worker = $1
   where id in (
     select oldest.id from unnest($3::text[]) as kinds (kind) cross join lateral (
       select id, run_at from jobs
       where state = 'ready' and name = kind and run_at <= $2 and id <> all($4::bigint[])
         and (organization_id is null or organization_id <> all($5::bigint[]))
       order by run_at, id limit $6 for update skip locked) oldest
     order by oldest.run_at, oldest.id limit $6)
   returning id, name, organization_id, payload, direction, attempts, error_step, error_code, error_message`,
);

/** Kinds that wait and that this worker does not know: another one's, newer or older, or nobody's. */
export const unknownKinds = statement<{ name: string; jobs: number }>(
  'jobs.unknownKinds',
  `select name, count(*)::int as jobs from jobs where state = 'ready' and name <> all($1::text[]) group by name`,
);

/** Gives back the jobs of workers that are no more: nobody holds their advisory lock. */
export const releaseOrphans = statement<{ id: number; name: string }>(
  'jobs.releaseOrphans',
  `update jobs set state = 'ready', worker = null
   where state = 'running' and not exists (
     select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = $1::int::oid
       and l.objid = jobs.worker::oid and l.objsubid = 2 and l.granted
       and l.database = (select oid from pg_database where datname = current_database()))
   returning id, name`,
);

/** Gives back what a worker has claimed and does not run: the claim's answer got lost, or giving back failed. */
export const releaseLost = statement<{ id: number; name: string }>(
  'jobs.releaseLost',
  `update jobs set state = 'ready', worker = null
   where state = 'running' and worker = $1 and id <> all($2::bigint[]) returning id, name`,
);

export const stepsOf = statement<{ step: string; state: 'done' | 'undone'; result: object }>(
  'jobs.stepsOf',
  'select step, state, result from job_steps where job_id = $1',
);

/** Fences: a worker that lost its claim records nothing. */
export const holdClaim = statement<{ id: number }>(
  'jobs.holdClaim',
  `select id from jobs where id = $1 and worker = $2 and state = 'running' for update`,
);

export const recordStep = statement(
  'jobs.recordStep',
  `insert into job_steps (job_id, step, state, result, finished_at) values ($1, $2, $3, $4, $5)
   on conflict (job_id, step) do update set state = excluded.state, result = excluded.result,
     finished_at = excluded.finished_at`,
);

export const resetAttempts = statement('jobs.resetAttempts', 'update jobs set attempts = 0 where id = $1');

export const postpone = statement(
  'jobs.postpone',
  `update jobs set state = 'ready', worker = null, attempts = attempts + 1, run_at = $3,
     error_step = $4, error_code = $5, error_message = $6
   where id = $1 and worker = $2 and state = 'running'`,
);

/** After an error of ours. A job on its way back keeps why it failed: its end says so, and what to undo hangs on it. */
export const giveBack = statement(
  'jobs.giveBack',
  `update jobs set state = 'ready', worker = null, attempts = attempts + 1, run_at = $3,
     error_code = case direction when 'forward' then 'internal_error' else error_code end,
     error_message = case direction when 'forward' then 'see the log' else error_message end
   where id = $1 and worker = $2 and state = 'running'`,
);

export const turnBack = statement(
  'jobs.turnBack',
  `update jobs set direction = 'backward', attempts = 0, error_step = $3, error_code = $4, error_message = $5
   where id = $1 and worker = $2 and state = 'running'`,
);

export const finishJob = statement(
  'jobs.finish',
  `update jobs set state = $3, worker = null, finished_at = $4 where id = $1 and worker = $2 and state = 'running'`,
);

const againFromTheStart = `state = 'ready', direction = 'forward', attempts = 0, finished_at = null,
  error_step = null, error_code = null, error_message = null`;

export const retryJob = statement<{ id: number }>(
  'jobs.retry',
  `update jobs set ${againFromTheStart}, run_at = $2 where id = $1 and state = 'failed' returning id`,
);

export const retryJobAbout = statement<{ id: number }>(
  'jobs.retryAbout',
  `update jobs set ${againFromTheStart}, run_at = $3
   where id = (select id from jobs where state = 'failed' and name = $1 and payload @> $2 order by id desc limit 1
               for update)
   returning id`,
);

export const stateAbout = statement<{ state: 'ready' | 'running' | 'done' | 'failed' }>(
  'jobs.stateAbout',
  'select state from jobs where name = $1 and payload @> $2 order by id desc limit 1',
);

export const forgetSteps = statement('jobs.forgetSteps', 'delete from job_steps where job_id = $1');

/** What was done long ago is of no use to anyone; what failed stays until staff has seen to it. */
export const purgeDone = statement(
  'jobs.purgeDone',
  `delete from jobs where id in (
     select id from jobs where state = 'done' and finished_at < $1 order by finished_at limit $2)`,
);
