-- What the provider owns: nodes that run machines, addresses, operating-system images.

create table nodes (
  id bigint generated always as identity primary key,
  name text not null unique,
  location text not null,
  state text not null default 'active' check (state in ('active', 'draining', 'down')),
  -- What the node may promise, overcommit included.
  cpu_cores integer not null check (cpu_cores >= 0),
  memory_mib integer not null check (memory_mib >= 0),
  disk_gib integer not null check (disk_gib >= 0),
  -- What it has promised: held by unpaid orders and used by machines.
  cpu_cores_taken integer not null default 0 check (cpu_cores_taken >= 0),
  memory_mib_taken integer not null default 0 check (memory_mib_taken >= 0),
  disk_gib_taken integer not null default 0 check (disk_gib_taken >= 0),
  seen_at timestamptz,
  created_at timestamptz not null
);

-- Room on a node for one service, from the order on.
create table placements (
  service_id bigint primary key,
  organization_id bigint not null,
  node_id bigint not null references nodes,
  cpu_cores integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  created_at timestamptz not null
);
create index placements_node on placements (node_id);

create table address_pools (
  id bigint generated always as identity primary key,
  name text not null unique,
  location text not null,
  family integer not null check (family in (4, 6)),
  network cidr not null,
  gateway inet not null,
  -- How long a freed address rests before somebody else gets it.
  rest_hours integer not null default 24,
  created_at timestamptz not null
);

-- One row an IPv4 address of a pool; IPv6 addresses have a row once they were given out.
create table addresses (
  address inet primary key,
  pool_id bigint not null references address_pools,
  state text not null check (state in ('free', 'taken', 'resting')),
  organization_id bigint,
  service_id bigint,
  ordinal integer,
  dns_name text,
  rests_until timestamptz,
  check ((state = 'taken') = (service_id is not null)),
  check ((state = 'resting') = (rests_until is not null))
);
create index addresses_free on addresses (pool_id, address) where state = 'free';
create index addresses_service on addresses (service_id, ordinal) where service_id is not null;
create index addresses_resting on addresses (rests_until) where state = 'resting';

create table images (
  slug text primary key,
  name text not null,
  version text not null,
  source jsonb not null,
  min_memory_mib integer not null,
  min_disk_gib integer not null,
  active boolean not null default true,
  created_at timestamptz not null
);
