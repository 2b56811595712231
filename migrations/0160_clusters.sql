-- Hosts that an engine keeps together. A node without a cluster is a host that one of our own processes runs on.
create table clusters (
  id bigint generated always as identity primary key,
  name text not null unique,
  engine text not null,
  location text not null,
  -- Any of which will do, as `https://host:port`.
  endpoints text[] not null check (cardinality(endpoints) > 0),
  project text not null,
  pool text not null,
  bridge text not null,
  -- SHA-256 of the certificate that it presents; the certificate itself once it was seen.
  fingerprint text not null,
  server_certificate text,
  -- What we are known by there: the certificate, and its key, sealed.
  certificate text not null,
  credential bytea not null,
  state text not null default 'active' check (state in ('active', 'draining')),
  -- Goes up whenever it is to be reached in another way; machines run there once that was found to be in order.
  generation integer not null default 1,
  fit_generation integer not null default 0,
  check_state text not null default 'checking' check (check_state in ('checking', 'ok', 'failed')),
  checked_at timestamptz,
  version text,
  tested text check (tested in ('older', 'tested', 'newer')),
  problems text[] not null default '{}',
  notes text[] not null default '{}',
  -- When it said last which members it has, and what is wrong since it does not.
  answered_at timestamptz,
  trouble text,
  troubled_at timestamptz,
  -- One process at a time writes down what it hears of the machines.
  watched_by uuid,
  watched_until timestamptz,
  created_at timestamptz not null
);
-- A cluster is known by its certificate: the same project of it is nobody's twice.
create unique index clusters_once on clusters (fingerprint, project);

alter table nodes
  add column cluster_id bigint references clusters,
  -- What the engine calls it, and where it reaches it.
  add column member text,
  add column member_address text,
  add column left_at timestamptz,
  add constraint nodes_of_clusters check ((cluster_id is null) = (member is null));
create unique index nodes_member on nodes (cluster_id, member) where cluster_id is not null;

-- Operating systems as each cluster has them; rejected: it cannot have that one.
create table cluster_images (
  cluster_id bigint not null references clusters on delete cascade,
  slug text not null references images (slug) on delete cascade,
  state text not null default 'preparing' check (state in ('preparing', 'ready', 'failed', 'rejected')),
  progress text,
  error text,
  prepared_at timestamptz,
  primary key (cluster_id, slug)
);
create index cluster_images_slug on cluster_images (slug);

-- What is noted of a node goes with it, when its member has left or its cluster is removed.
alter table vps_node_alarms drop constraint vps_node_alarms_node_id_fkey,
  add constraint vps_node_alarms_node_id_fkey foreign key (node_id) references nodes on delete cascade;
alter table shield_fronts drop constraint shield_fronts_node_id_fkey,
  add constraint shield_fronts_node_id_fkey foreign key (node_id) references nodes on delete cascade;
