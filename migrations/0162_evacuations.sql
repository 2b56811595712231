-- Nodes of clusters that staff empties, and gives back what was taken away: one row each time.
create table vps_evacuations (
  id bigint generated always as identity primary key,
  node_id bigint not null references nodes on delete cascade,
  kind text not null check (kind in ('evacuate', 'restore')),
  -- Whether machines that cannot go while they run are shut down for it.
  cold boolean not null,
  state text not null default 'running' check (state in ('running', 'stopped', 'done')),
  started_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'running') = (ended_at is null))
);
create index vps_evacuations_node on vps_evacuations (node_id, id);
create unique index vps_evacuations_one on vps_evacuations (node_id) where state = 'running';

-- Each machine of one, by the id of its action.
create table vps_moves (
  id bigint primary key,
  evacuation_id bigint not null references vps_evacuations on delete cascade,
  service_id bigint not null,
  organization_id bigint not null,
  state text not null default 'waiting' check (state in ('waiting', 'moving', 'moved', 'stays')),
  -- Its turn has come, and a job looks after it.
  is_begun boolean not null default false,
  reason text,
  live boolean,
  -- When it was taken down for it, and when it was ready again.
  away_since timestamptz,
  back_at timestamptz,
  began_at timestamptz,
  ended_at timestamptz
);
create index vps_moves_evacuation on vps_moves (evacuation_id, state);
create index vps_moves_service on vps_moves (service_id);
create index vps_moves_organization on vps_moves (organization_id);
