-- What has to be done outside the database, and how far it has come.

create sequence worker_numbers as integer maxvalue 2000000000 cycle;

create table jobs (
  id bigint generated always as identity primary key,
  name text not null,
  -- Whose business the job is; null for the provider's own.
  organization_id bigint,
  -- Ids chosen before the first step, so that every step can be repeated.
  payload jsonb not null,
  state text not null default 'ready' check (state in ('ready', 'running', 'done', 'failed')),
  -- Steps run forward; after a failure for good the finished ones are undone, backward.
  direction text not null default 'forward' check (direction in ('forward', 'backward')),
  run_at timestamptz not null,
  -- Tries of the step that is under way.
  attempts integer not null default 0,
  -- Number whose advisory lock the running process holds; when nobody holds it the process is dead.
  worker integer,
  error_step text,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((state = 'running') = (worker is not null))
);
create index jobs_ready on jobs (run_at, id) where state = 'ready';
create index jobs_running on jobs (worker) where state = 'running';
create index jobs_failed on jobs (finished_at desc, id desc) where state = 'failed';
create index jobs_done on jobs (finished_at) where state = 'done';

create table job_steps (
  job_id bigint not null references jobs on delete cascade,
  step text not null,
  state text not null check (state in ('done', 'undone')),
  result jsonb not null,
  finished_at timestamptz not null,
  primary key (job_id, step)
);
