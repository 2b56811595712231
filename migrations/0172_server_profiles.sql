-- Rules over what servers have, by which staff says what one is sold as.
create table server_profiles (
  id bigint generated always as identity primary key,
  name text not null constraint server_profiles_name unique,
  -- Each may be left open.
  threads integer check (threads >= 1),
  memory_gib integer check (memory_gib >= 1),
  -- What its maker calls it.
  model text,
  -- All that it has: [{"kind": "nvme", "gb": 960, "count": 2}]; no two of one kind and size.
  disks jsonb,
  note text,
  created_at timestamptz not null
);
-- Which of them it fits, by what was measured of it.
alter table servers add column profile_id bigint references server_profiles;
create index servers_profile on servers (profile_id, state, id);
