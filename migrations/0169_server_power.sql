-- What staff has a server's BMC do with its power, and why that failed when it was done last.
alter table server_bmcs
  add column power_action text check (power_action in ('start', 'stop', 'restart')),
  add column power_action_since timestamptz,
  add column power_problem text,
  add constraint server_bmcs_power_action check ((power_action is null) = (power_action_since is null));

-- What a BMC measured and noted when it was read last.
create table server_readings (
  server_id bigint primary key references server_bmcs on delete cascade,
  asked_at timestamptz not null,
  -- Null: it was never read.
  read_at timestamptz,
  -- Why it could not be read when it was asked last.
  problem text,
  sensors jsonb not null,
  events jsonb not null,
  -- The sensors beyond their limits, in words; null: there is none.
  critical text,
  critical_since timestamptz
);
create index server_readings_critical on server_readings (critical_since desc, server_id desc) where critical is not null;
