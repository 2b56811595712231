-- Restores of this database from a backup, and machines that a node has and this database does not know.

-- What was under way with machines when the backup was made may have been done since: it is held at the next start.
create table restores (
  id bigint generated always as identity primary key,
  -- When the backup was made that the database came from.
  made_at timestamptz not null,
  restored_at timestamptz not null,
  settled_at timestamptz
);

-- Made after the backup, or put there by somebody: never touched, until a person has decided what they are.
create table vps_unknown_machines (
  id bigint generated always as identity primary key,
  node_id bigint not null references nodes on delete cascade,
  -- What the node calls it.
  machine text not null,
  -- The service it belongs to by its name; null when its name says none.
  service_id bigint,
  -- Reserved for it, so that nobody else gets them.
  addresses inet[] not null,
  found_at timestamptz not null,
  unique (node_id, machine)
);
create index vps_unknown_machines_service on vps_unknown_machines (service_id);
create index vps_unknown_machines_found on vps_unknown_machines (found_at desc, id desc);
