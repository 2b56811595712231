-- Machines of a host of our own that go into a cluster, each made anew there of its disk as it is once it was switched off.
alter table vps_evacuations
  -- Where they go; null: to other members of the node's own cluster.
  add column cluster_id bigint references clusters on delete set null,
  -- Whether those that have snapshots go without them.
  add column drops_snapshots boolean not null default false,
  -- No machine goes before this moment; null: at once.
  add column begins_at timestamptz;
create index vps_evacuations_cluster on vps_evacuations (cluster_id) where cluster_id is not null;

alter table vps_moves
  -- What it is made anew as; the one after it is what its backups are made of on their way.
  add column incarnation integer,
  -- Whether it may run there: then it is not started where it was before it is known not to.
  add column may_run_there boolean not null default false,
  -- Its customer was told that it is going to be off.
  add column was_told boolean not null default false;
