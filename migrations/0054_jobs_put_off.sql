-- Not before this moment, when somebody asked for that. Any other job waits for a pause at most: one that would wait longer
-- was put off by a clock that was ahead.
alter table jobs add column not_before timestamptz;
update jobs set not_before = run_at
where state = 'ready' and attempts = 0 and run_at > created_at + interval '1 minute';

-- Staff has seen to a job that failed or is stuck, by other means than trying again; it can still be tried again.
alter table jobs add column dismissed_at timestamptz;
drop index jobs_failed;
create index jobs_failed on jobs (finished_at desc, id desc)
  where state in ('failed', 'stuck') and dismissed_at is null;
create index jobs_dismissed on jobs (finished_at) where dismissed_at is not null;
