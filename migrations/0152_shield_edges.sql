-- What stands in front of addresses: what filters at a host before its own machines (`node`), a host of ours that only filters, for machines
-- of other nodes (`router`), and routers that are not ours, told by BGP (`routers`).
create table shield_edges (
  id bigint generated always as identity primary key,
  -- Whose process speaks to it.
  node_id bigint not null references nodes,
  kind text not null check (kind in ('node', 'router', 'routers')),
  name text not null,
  -- `none`: nothing filters there, for `reason`.
  engine text not null,
  reason text,
  capabilities text[] not null,
  -- Whether the process of its node spoke to it when it was started last.
  served boolean not null,
  -- Of routers: how many routes stand at most, and how many of them rules of customers may take.
  most_routes integer not null default 1000 check (most_routes between 1 and 100000),
  rule_routes integer not null default 0 check (rule_routes >= 0),
  -- Whether packets may be sent to nowhere by it at all, and by which communities and next hops.
  blackholes boolean not null default false,
  communities text[] not null default '{}',
  next_hop4 inet,
  next_hop6 inet,
  -- How it was when it was looked at last.
  seen_at timestamptz,
  error text,
  error_since timestamptz,
  -- Kinds of traffic of which more is to be counted than there is room for.
  full_kinds text[] not null default '{}',
  full_since timestamptz,
  peers jsonb not null default '[]',
  peers_down_since timestamptz,
  routes integer,
  created_at timestamptz not null,
  check (rule_routes * 2 <= most_routes)
);
create unique index shield_edges_place on shield_edges (node_id, (kind = 'routers'));
create unique index shield_edges_name on shield_edges (lower(name));
create index shield_edges_error on shield_edges (error_since desc, id desc) where error is not null;
create index shield_edges_full on shield_edges (full_since desc, id desc) where full_since is not null;
create index shield_edges_peers on shield_edges (peers_down_since desc, id desc) where peers_down_since is not null;

-- Nodes for whose machines a router filters, instead of what filters at the node itself.
create table shield_fronts (
  node_id bigint primary key references nodes,
  edge_id bigint not null references shield_edges,
  created_at timestamptz not null
);
create index shield_fronts_edge on shield_fronts (edge_id);

-- The networks that routers may be told of.
create table shield_prefixes (
  id bigint generated always as identity primary key,
  edge_id bigint not null references shield_edges on delete cascade,
  network cidr not null,
  created_at timestamptz not null
);
create unique index shield_prefixes_network on shield_prefixes (edge_id, network);

-- What customers may have their addresses sent to nowhere by: staff's word for an organization, else the owner's for an address.
create table shield_organizations (
  organization_id bigint primary key references organizations,
  blackholes text check (blackholes in ('allowed', 'forbidden')),
  updated_at timestamptz not null
);
alter table shield_addresses add column blackhole boolean not null default false;

-- Null: what filters before the machine. Else the routers that are told.
alter table shield_mitigations add column edge_id bigint references shield_edges,
  -- It is taken back then, to see whether the attack goes on behind it.
  add column until timestamptz;

-- What routers are to be told against attacks on an address, and what they have been.
create table shield_announcements (
  edge_id bigint not null references shield_edges,
  address inet not null,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  generation bigint not null,
  -- Null: nothing any more.
  measure json,
  held bigint,
  held_since timestamptz,
  routes integer not null default 0,
  error text,
  updated_at timestamptz not null,
  primary key (edge_id, address)
);
create index shield_announcements_organization on shield_announcements (organization_id);
create index shield_announcements_address on shield_announcements (address);

-- Of which policies routers have been told a part, and what was left out of it.
create table shield_announced_rules (
  edge_id bigint not null references shield_edges,
  address inet not null,
  organization_id bigint not null references organizations,
  generation bigint not null,
  routes integer not null,
  left_out jsonb not null,
  error text,
  updated_at timestamptz not null,
  primary key (edge_id, address)
);
create index shield_announced_rules_organization on shield_announced_rules (organization_id);
