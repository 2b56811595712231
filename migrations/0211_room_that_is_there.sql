-- What a member of a cluster has that nobody uses, as its engine tells: others may run machines beside ours, of which we promised nothing.
-- Null where nobody tells: a host of our own runs ours alone.
alter table nodes
  add column memory_mib_free integer check (memory_mib_free >= 0),
  add column disk_gib_free integer check (disk_gib_free >= 0);
-- What new machines get: what is promised to nobody, and is there.
alter table nodes
  add column memory_mib_left integer not null generated always as (
    least(greatest(memory_mib - memory_reserve_mib, 0) - memory_mib_taken, coalesce(memory_mib_free, 2147483647))) stored,
  add column disk_gib_left integer not null generated always as (
    least(greatest(disk_gib - disk_reserve_gib, 0) - disk_gib_taken, coalesce(disk_gib_free, 2147483647))) stored;
