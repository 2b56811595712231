import { forMany, statement } from '../database/index.ts';

export interface JobRow {
  id: number;
  name: string;
  organization_id: number | null;
  payload: unknown;
  node_id: number | null;
  direction: 'forward' | 'backward';
  attempts: number;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
  /** Whether it was held after a restore, and staff retried it. */
  is_held: boolean;
  /** What was recorded of its steps; null when nothing was. */
  steps: { step: string; state: 'done' | 'undone'; result: object }[] | null;
}

export const insertJob = forMany(
  statement<
    { id: number },
    {
      name: string;
      organizationId: number | null;
      payload: object;
      notBefore: Date | null;
      now: Date;
      nodeId: number | null;
    }
  >(
    'jobs.insert',
    `insert into jobs (name, organization_id, payload, run_at, not_before, created_at, node_id, home_node_id)
   values (:name, :organizationId, :payload, coalesce(:notBefore::timestamptz, :now), :notBefore, :now, :nodeId,
     :nodeId) returning id`,
  ),
  {
    name: 'text',
    organizationId: 'bigint',
    payload: 'jsonb',
    notBefore: 'timestamptz',
    now: 'timestamptz',
    nodeId: 'bigint',
  },
  (given) => `with written as (
     insert into jobs (name, organization_id, payload, run_at, not_before, created_at, node_id, home_node_id)
     select name, "organizationId", payload, coalesce("notBefore", now), "notBefore", now, "nodeId", "nodeId"
     from ${given} order by nth_ returning id)
   select id, row_number() over (order by id) as nth_ from written`,
);

export const newWorkerNumber = statement<{ number: number }>(
  'jobs.newWorkerNumber',
  `select nextval('worker_numbers')::int as number`,
);

/**
 * Takes ready jobs of some kinds for this worker, the oldest first; two workers never get the same one. Each kind and
 * each node is asked by itself, so that a claim costs the same however much of others waits; node 0 is anyone's. Values
 * stand in `(select …)` so that the plan is made once: to plan a claim costs more than to make it.
 */
export const claimJobs = statement<
  JobRow,
  {
    worker: number;
    now: Date;
    kinds: string[];
    nodes: number[];
    running: number[];
    full: number[];
    limit: number;
  }
>(
  'jobs.claim',
  `update jobs set state = 'running', worker = :worker
   where id in (select id from (
     select oldest.id
     from unnest((select :kinds::text[])) as kinds (kind), unnest((select :nodes::bigint[])) as nodes (node)
     cross join lateral (
       select id, run_at from jobs
       where state = 'ready' and name = kind and coalesce(node_id, 0) = node
         and run_at <= (select :now::timestamptz)
         and id <> all((select :running::bigint[])::bigint[])
         and (organization_id is null or organization_id <> all((select :full::bigint[])::bigint[]))
       order by run_at, id limit (select :limit::bigint) for update skip locked) oldest
     order by oldest.run_at, oldest.id limit (select :limit::bigint)) chosen limit 100)
   returning id, name, organization_id, payload, node_id, direction, attempts, error_step, error_code, error_message,
     held_at is not null as is_held, (select jsonb_agg(jsonb_build_object('step', step, 'state', s.state, 'result', result))
      from job_steps s where job_id = jobs.id) as steps`,
);

/** Kinds that wait and that this worker does not know: another one's, newer or older, or nobody's. */
export const unknownKinds = statement<{ name: string; jobs: number }, { kinds: string[] }>(
  'jobs.unknownKinds',
  `select name, count(*)::int as jobs from jobs where state = 'ready'
     and name <> all(:kinds::text[]) group by name`,
);

/** What a worker finds when it looks: jobs that are given back, and of each of its kinds when the first one that waits is due. */
export interface Found {
  found: 'orphan' | 'lost' | 'waiting';
  /** Null of those that wait. */
  id: number | null;
  name: string;
  /** Of those that wait. */
  run_at: Date | null;
}

/**
 * One look at everything. It gives back the jobs of workers that are no more, whose advisory lock nobody holds (`orphans`: only these
 * kinds; null for all), and what this worker has claimed and does not run: the claim's answer got lost, or giving back failed.
 */
export const lookForJobs = statement<
  Found,
  {
    livenessClass: number;
    orphans: string[] | null;
    worker: number;
    running: number[];
    kinds: string[];
    nodes: number[];
  }
>(
  'jobs.look',
  `with orphans as (
     update jobs set state = 'ready', worker = null
     where state = 'running' and worker is distinct from :worker and (:orphans::text[] is null or name = any(:orphans::text[])) and not exists (
       select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = :livenessClass::int::oid
         and l.objid = jobs.worker::oid and l.objsubid = 2 and l.granted
         and l.database = (select oid from pg_database where datname = current_database()))
     returning id, name),
   lost as (
     update jobs set state = 'ready', worker = null
     where state = 'running' and worker = :worker and id <> all(:running::bigint[]) returning id, name),
   waiting as (
     select kind, min(run_at) as run_at
     from unnest((select :kinds::text[])) as kinds (kind), unnest((select :nodes::bigint[])) as nodes (node)
     cross join lateral (
       select run_at from jobs
       where state = 'ready' and name = kind and coalesce(node_id, 0) = node order by run_at, id limit 1) oldest
     group by kind)
   select 'orphan' as found, id, name, null::timestamptz as run_at from orphans
   union all select 'lost', id, name, null from lost
   union all select 'waiting', null, kind, run_at from waiting`,
);

/**
 * Has jobs run that a clock which was ahead has put off: besides those that somebody asked for later, none waits beyond
 * `latest`.
 */
export const pullForward = statement<
  { id: number; name: string },
  { kinds: string[]; nodes: number[]; now: Date; latest: Date }
>(
  'jobs.pullForward',
  `update jobs set run_at = greatest(:now::timestamptz, not_before)
   where state = 'ready' and id in (
     select late.id
     from unnest((select :kinds::text[])) as kinds (kind), unnest((select :nodes::bigint[])) as nodes (node)
     cross join lateral (
       select id from jobs
       where state = 'ready' and name = kind and coalesce(node_id, 0) = node
         and run_at > (select :latest::timestamptz) and (not_before is null or not_before < run_at)
       limit 1000 for update skip locked) late)
   returning id, name`,
);

/** Fences: a worker that lost its claim records nothing. */
export const holdClaim = forMany(
  statement<{ id: number }, { id: number; worker: number }>(
    'jobs.holdClaim',
    `select id from jobs where id = :id and worker = :worker and state = 'running' for update`,
  ),
  { id: 'bigint', worker: 'int' },
);

export const recordStep = forMany(
  statement<never, { jobId: number; step: string; state: 'done' | 'undone'; result: object; now: Date }>(
    'jobs.recordStep',
    `insert into job_steps (job_id, step, state, result, finished_at)
   values (:jobId, :step, :state, :result, :now)
   on conflict (job_id, step) do update set state = excluded.state, result = excluded.result,
     finished_at = excluded.finished_at`,
  ),
  { jobId: 'bigint', step: 'text', state: 'text', result: 'jsonb', now: 'timestamptz' },
  (given) => `insert into job_steps (job_id, step, state, result, finished_at)
   select "jobId", step, state, result, now from ${given}
   on conflict (job_id, step) do update set state = excluded.state, result = excluded.result,
     finished_at = excluded.finished_at`,
);

export const resetAttempts = statement<never, { id: number }>(
  'jobs.resetAttempts',
  'update jobs set attempts = 0 where id = :id',
);

export const postpone = statement<
  never,
  {
    id: number;
    worker: number;
    runAt: Date;
    tries: number;
    errorStep: string;
    errorCode: string;
    errorMessage: string;
  }
>(
  'jobs.postpone',
  `update jobs set state = 'ready', worker = null, attempts = attempts + :tries::int, run_at = :runAt,
     error_step = :errorStep, error_code = :errorCode, error_message = :errorMessage
   where id = :id and worker = :worker and state = 'running'`,
);

/** After an error outside its steps. Why a job was turned back stays: its end says so, and what to undo hangs on it. */
export const postponeEnd = statement<
  never,
  { id: number; worker: number; runAt: Date; tries: number; reason: string }
>(
  'jobs.postponeEnd',
  `update jobs set state = 'ready', worker = null, attempts = attempts + :tries::int, run_at = :runAt, stuck_reason = :reason
   where id = :id and worker = :worker and state = 'running'`,
);

/** Gives a job to whoever runs a node, this worker or another. */
export const moveJob = statement<never, { id: number; nodeId: number; leaves: boolean }>(
  'jobs.move',
  `update jobs set node_id = :nodeId, state = case when :leaves then 'ready' else state end,
     worker = case when :leaves then null else worker end where id = :id`,
);

// State by state, as their indexes have them. One that runs writes down at its next step whatever node it goes to itself.
export const followJobs = statement<{ name: string }, { about: object; from: number; to: number }>(
  'jobs.follow',
  `update jobs set node_id = case when node_id = :from then :to::bigint else node_id end,
     home_node_id = case when home_node_id = :from then :to::bigint else home_node_id end
   where (state = 'ready' or state = 'running' or state in ('failed', 'stuck'))
     and (node_id = :from or home_node_id = :from) and payload @> :about returning name`,
);

export const stickJob = statement<
  never,
  {
    id: number;
    worker: number;
    now: Date;
    reason: string;
    errorStep: string;
    errorCode: string;
    errorMessage: string;
  }
>(
  'jobs.stick',
  `update jobs set state = 'stuck', worker = null, finished_at = :now, stuck_reason = :reason,
     error_step = coalesce(error_step, :errorStep), error_code = coalesce(error_code, :errorCode),
     error_message = coalesce(error_message, :errorMessage)
   where id = :id and worker = :worker and state = 'running'`,
);

export const turnBack = statement<
  never,
  { id: number; worker: number; errorStep: string; errorCode: string; errorMessage: string }
>(
  'jobs.turnBack',
  `update jobs set direction = 'backward', attempts = 0, error_step = :errorStep, error_code = :errorCode,
     error_message = :errorMessage
   where id = :id and worker = :worker and state = 'running'`,
);

export const finishJob = forMany(
  statement<never, { id: number; worker: number; state: 'done' | 'failed'; now: Date }>(
    'jobs.finish',
    `update jobs set state = :state, worker = null, finished_at = :now
   where id = :id and worker = :worker and state = 'running'`,
  ),
  { id: 'bigint', worker: 'int', state: 'text', now: 'timestamptz' },
  (given) => `update jobs set state = given.state, worker = null, finished_at = given.now
   from ${given} where jobs.id = given.id and jobs.worker = given.worker and jobs.state = 'running' returning given.nth_`,
);

export interface EndedJob {
  id: number;
  name: string;
  state: 'failed' | 'stuck';
  organizationId: number | null;
}

export const lockEnded = statement<EndedJob, { id: number }>(
  'jobs.lockEnded',
  `select id, name, state, organization_id as "organizationId" from jobs where id = :id and state in ('failed', 'stuck') for update`,
);

export const lockEndedAbout = statement<EndedJob, { name: string; about: object }>(
  'jobs.lockEndedAbout',
  `select id, name, state, organization_id as "organizationId" from jobs where state in ('failed', 'stuck') and name = :name and payload @> :about
   order by id desc limit 1 for update`,
);

export const settleFailedAbout = statement<never, { name: string; about: object }>(
  'jobs.settleFailedAbout',
  `update jobs set state = 'done' where state = 'failed' and name = :name and payload @> :about`,
);

/** Also those that stand still half way. */
export const settleEndedAbout = statement<never, { name: string; about: object }>(
  'jobs.settleEndedAbout',
  `update jobs set state = 'done' where state in ('failed', 'stuck') and name = :name and payload @> :about`,
);

/** From the first step, and from where it was enqueued to. */
export const startAgain = statement<never, { id: number; now: Date }>(
  'jobs.startAgain',
  `update jobs set state = 'ready', direction = 'forward', attempts = 0, run_at = :now, finished_at = null,
     node_id = home_node_id, held_at = null, dismissed_at = null, error_step = null, error_code = null, error_message = null where id = :id`,
);

/** Failed jobs of some names and codes, from the first step; the next failure is the last again. */
export const tryOnceMore = statement<
  { name: string },
  { names: string[]; codes: string[]; now: Date; before: Date; ahead: Date; limit: number }
>(
  'jobs.tryOnceMore',
  `with again as (
     select j.id from jobs j join unnest(:names::text[], :codes::text[]) as o(name, code)
       on j.name = o.name and j.error_code = o.code
     where j.state = 'failed' and j.dismissed_at is null and (j.finished_at <= :before or j.finished_at > :ahead)
     order by j.finished_at, j.id limit :limit for update of j skip locked),
   forgotten as (delete from job_steps s using again where s.job_id = again.id)
   update jobs set state = 'ready', direction = 'forward', attempts = 11, run_at = :now, finished_at = null,
     node_id = home_node_id, held_at = null, error_step = null, error_code = null, error_message = null
   where id in (select id from again) returning name`,
);
/** The same of what is stuck, as where what was to be undone failed of the same: from where it stood. Not what a restore holds. */
export const goOnOnceMore = statement<
  { name: string },
  { names: string[]; codes: string[]; now: Date; before: Date; ahead: Date; limit: number }
>(
  'jobs.goOnOnceMore',
  `with again as (
     select j.id from jobs j join unnest(:names::text[], :codes::text[]) as o(name, code)
       on j.name = o.name and j.error_code = o.code
     where j.state = 'stuck' and j.held_at is null and j.dismissed_at is null and (j.finished_at <= :before or j.finished_at > :ahead)
     order by j.finished_at, j.id limit :limit for update of j skip locked)
   update jobs set state = 'ready', attempts = 11, run_at = :now, finished_at = null
   where id in (select id from again) returning name`,
);

/** Whether there is any of which one of these two may be: an index of few rows, but for an outage. */
export const nextOnceMore = statement<{ at: Date | null }, { now: Date }>(
  'jobs.nextOnceMore',
  `select case when exists (select 1 from jobs where state in ('failed', 'stuck') and dismissed_at is null)
     then :now::timestamptz end as at`,
);

/** From where it stood, in the direction it had. */
export const goOn = statement<never, { id: number; now: Date }>(
  'jobs.goOn',
  `update jobs set state = 'ready', attempts = 0, run_at = :now, finished_at = null, stuck_reason = null,
     dismissed_at = null
   where id = :id`,
);

/** A job that staff has seen to, and why it had ended so. */
export interface DismissedJob extends EndedJob {
  why: string | null;
}

export const dismiss = statement<DismissedJob, { id: number; now: Date }>(
  'jobs.dismiss',
  `update jobs set dismissed_at = :now where id = :id and state in ('failed', 'stuck') and dismissed_at is null
   returning id, name, state, organization_id as "organizationId",
     concat_ws(': ', error_step, coalesce(stuck_reason, error_message)) as why`,
);

export const isUnderWay = statement<{ id: number }, { id: number }>(
  'jobs.isUnderWay',
  `select id from jobs where id = :id and state in ('ready', 'running')`,
);

// Each state by an index of its own: what is done, which is most, is not looked at.
export const openAbout = statement<{ id: number }, { name: string; about: object }>(
  'jobs.openAbout',
  `select id from jobs where state = 'ready' and name = :name and payload @> :about
   union all select id from jobs where state = 'running' and name = :name and payload @> :about limit 1`,
);

/** What failed counts as well until staff has seen to it. */
export const unfinishedAbout = statement<{ id: number }, { name: string; about: object }>(
  'jobs.unfinishedAbout',
  `select id from jobs where state = 'ready' and name = :name and payload @> :about
   union all select id from jobs where state = 'running' and name = :name and payload @> :about
   union all select id from jobs where state in ('failed', 'stuck') and dismissed_at is null and name = :name
     and payload @> :about limit 1`,
);

/** What failed counts as well until staff has seen to it. */
export const unfinished = statement<{ jobs: number }, { name: string; until: Date }>(
  'jobs.unfinished',
  `select count(*)::int as jobs from jobs where name = :name and created_at <= :until
     and state in ('ready', 'running', 'failed', 'stuck') and dismissed_at is null`,
);

export const forgetSteps = statement<never, { jobId: number }>(
  'jobs.forgetSteps',
  'delete from job_steps where job_id = :jobId',
);

/** What was done long ago is of no use to anyone; what failed stays until staff has seen to it. */
export const purgeDone = statement<never, { before: Date; limit: number }>(
  'jobs.purgeDone',
  `delete from jobs where id in (
     (select id from jobs where state = 'done' and finished_at < :before order by finished_at limit :limit)
     union all
     (select id from jobs where dismissed_at is not null and state in ('failed', 'stuck') and finished_at < :before
      order by finished_at limit :limit))`,
);
