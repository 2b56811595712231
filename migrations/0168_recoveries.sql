-- A machine that was made anew on another node has another name towards its engine: what the lost node has of it is never taken for it.
alter table machines add column incarnation integer not null default 1 check (incarnation >= 1);

-- The node that keeps a backup which lies elsewhere than its machine's disk; null: beside it.
alter table vps_snapshots add column kept_on bigint references nodes on delete set null;
create index vps_snapshots_kept_on on vps_snapshots (kept_on) where kept_on is not null;

-- Machines of nodes that did not answer, made anew elsewhere from a backup: each by the id of its action.
create table vps_recoveries (
  id bigint primary key,
  -- The node that was lost, and what its engine calls the machine there.
  node_id bigint not null references nodes on delete cascade,
  machine text not null,
  service_id bigint not null,
  organization_id bigint not null,
  backup text not null,
  backup_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'recovered', 'stays')),
  reason text,
  asked_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'running') = (ended_at is null))
);
create unique index vps_recoveries_one on vps_recoveries (service_id) where state = 'running';
create index vps_recoveries_node on vps_recoveries (node_id, service_id, asked_at);
create index vps_recoveries_machine on vps_recoveries (machine) where state = 'recovered';
create index vps_recoveries_service on vps_recoveries (service_id);
create index vps_recoveries_organization on vps_recoveries (organization_id);
