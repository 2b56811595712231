-- Who does jobs. A worker writes down that it lives; whoever looks finds out when nobody does.

create table workers (
  -- Under which it claims, and holds an advisory lock for as long as it has its connection.
  number integer primary key,
  -- Its NODE_NAME, and the host it runs on: how staff finds it.
  name text not null,
  host text not null,
  nodes bigint[] not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Jobs whose ends keep failing because the database is full or a part is away: nothing but time was to end them.
create index jobs_retrying on jobs (id)
  where state in ('ready', 'running') and stuck_reason is not null and attempts >= 5;
