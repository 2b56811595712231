-- What stands in the provider's racks and is rented whole.
create table racks (
  id bigint generated always as identity primary key,
  name text not null constraint racks_name unique,
  location text not null,
  units integer not null check (units between 1 and 100),
  -- What its feeds give at most; null: nobody said.
  power_watts integer check (power_watts > 0),
  note text,
  created_at timestamptz not null
);

create table servers (
  id bigint generated always as identity primary key,
  name text not null constraint servers_name unique,
  serial text not null constraint servers_serial unique,
  state text not null check (state in
    ('waiting', 'ready', 'held', 'rented', 'returning', 'quarantined', 'broken', 'retired')),
  -- Why it is kept out of stock.
  reason text,
  state_since timestamptz not null,
  rack_id bigint references racks,
  -- The lowest unit that it takes, counted from the floor, and how many.
  unit integer check (unit >= 1),
  height integer not null check (height between 1 and 50),
  note text,
  created_at timestamptz not null,
  constraint servers_place check ((rack_id is null) = (unit is null)),
  -- Two of one rack never share a unit: each is a box one unit wide, as high as it is, at the number of its rack.
  constraint servers_units exclude using gist (box(point(rack_id, unit), point(rack_id, unit + height - 1)) with &&)
);
create index servers_rack on servers (rack_id, unit);
create index servers_state on servers (state, id);
create index servers_by_name on servers (lower(name) collate "C", id);
create index servers_by_serial on servers (lower(serial) collate "C", id);

-- By which it is known in a network.
create table server_ports (
  mac macaddr primary key,
  server_id bigint not null references servers,
  -- As staff counts them.
  position integer not null,
  unique (server_id, position)
);

-- A disk that was taken out stays on the record.
create table server_disks (
  id bigint generated always as identity primary key,
  server_id bigint not null references servers,
  serial text not null,
  model text,
  installed_at timestamptz not null,
  removed_at timestamptz
);
create unique index server_disks_serial on server_disks (serial) where removed_at is null;
create index server_disks_server on server_disks (server_id, id);

-- The controller of a server, by which its power is switched.
create table server_bmcs (
  server_id bigint primary key references servers,
  kind text not null check (kind in ('ipmi', 'redfish', 'simulated')),
  address inet not null,
  port integer check (port between 1 and 65535),
  username text not null,
  -- Its password, sealed.
  password bytea not null,
  -- SHA-256 of what it has to present, of Redfish alone.
  certificate text
);
create unique index server_bmcs_address on server_bmcs (address, coalesce(port, 0));
