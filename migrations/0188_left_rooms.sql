alter table vps_moves
  -- What it made in the cluster was started there, or may have been: it may hold what nobody else has, and no job of ours takes it away.
  add column ran_there boolean not null default false;
update vps_moves set ran_there = true where may_run_there and state in ('waiting', 'moving');

-- Room that a node goes on holding for what it has of a machine whose room is on another by now, until that is gone from it. It counts among what
-- the node has taken. What was switched off for good holds no cores and no memory.
create table left_rooms (
  node_id bigint not null references nodes on delete cascade,
  -- What its engine calls it.
  machine text not null,
  service_id bigint not null,
  cpu_cores integer not null check (cpu_cores >= 0),
  memory_mib integer not null check (memory_mib >= 0),
  disk_gib integer not null check (disk_gib >= 0),
  created_at timestamptz not null,
  primary key (node_id, machine)
);

-- What was left before: copies of machines that are elsewhere by now, of which nodes were found to have the disk.
insert into left_rooms (node_id, machine, service_id, cpu_cores, memory_mib, disk_gib, created_at)
select u.node_id, u.machine, u.service_id, 0, 0, p.disk_gib, u.found_at
from vps_unknown_machines u join placements p on p.service_id = u.service_id and p.node_id <> u.node_id;
update nodes n set disk_gib_taken = n.disk_gib_taken + held.gib
from (select node_id, sum(disk_gib) as gib from left_rooms group by node_id) held where n.id = held.node_id;
