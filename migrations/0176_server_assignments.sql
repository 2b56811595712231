-- What the product has the installer do with one server.
create table server_assignments (
  id bigint generated always as identity primary key,
  server_id bigint not null references servers,
  kind text not null check (kind in ('wipe', 'install', 'rescue')),
  -- open: no start of the server is proved yet; working: one is, and has the plan.
  state text not null check (state in ('open', 'working', 'done', 'failed', 'cancelled')),
  -- What is to be done, with whom it lets in, sealed; gone once it has ended.
  plan bytea,
  -- The tree that it installs, and which bytes these are since somebody was given the plan.
  tree text,
  tree_sha256 text,
  tree_bytes bigint,
  -- The disks that the server has to have: no more, no fewer, no others.
  disks jsonb not null,
  -- What the installer does now, and how much of the tree has come.
  step text,
  bytes bigint,
  -- How each disk was wiped, by serial number.
  erasures jsonb not null default '{}',
  failure_code text,
  failure text,
  -- How often it began.
  tries integer not null default 1,
  opened_at timestamptz not null,
  -- When the server was switched on to begin; null: it has to be.
  powered_at timestamptz,
  -- When the server was heard of last, of its work.
  heard_at timestamptz,
  ended_at timestamptz,
  constraint server_assignments_ended check ((state in ('done', 'failed', 'cancelled')) = (ended_at is not null))
);
-- One at a time on a server.
create unique index server_assignments_one on server_assignments (server_id) where state in ('open', 'working');
create index server_assignments_server on server_assignments (server_id, id);

-- A start of a server that is to be worked on, and the disks that it says it has: null: it has not said yet.
alter table server_starts
  add column assignment_id bigint references server_assignments on delete cascade,
  add column disks jsonb;
create index server_starts_assignment on server_starts (assignment_id) where assignment_id is not null;
