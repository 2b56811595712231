-- What a machine was started from, what was last asked of its guest, and how its node fails it.

alter table machines
  -- Whether it was last started from the rescue system; `rescue` counts from the next start.
  add column in_rescue boolean not null default false,
  -- What a guest was asked for in vain: it may still shut down for it, later.
  add column button text check (button in ('stop', 'restart')),
  add column pressed_at timestamptz,
  -- The reinstall that has begun to replace the disk and may have done so.
  add column replaced_by bigint,
  -- Starts in a row that its node failed, and when the next one is due.
  add column host_failures integer not null default 0,
  add column retry_at timestamptz;

update machines set in_rescue = rescue;

create index machines_failing on machines (node_id) where retry_at is not null;

-- Nodes that fail their machines: staff is told once, until all of them run again.
create table vps_node_alarms (
  node_id bigint primary key references nodes,
  reason text not null,
  since timestamptz not null
);
