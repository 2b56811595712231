-- Room for snapshots and backups is promised like room for disks: each may come to take as much as the disk it was made
-- of. What nodes and placements hold for copies is a part of what is taken of the disk.

alter table vps_snapshots add column promised_gib integer not null default 0 check (promised_gib >= 0);
update vps_snapshots s set promised_gib = m.disk_gib from machines m where m.service_id = s.service_id;

alter table placements add column copies_gib integer not null default 0 check (copies_gib >= 0);
alter table nodes add column copies_gib integer not null default 0 check (copies_gib >= 0);
update placements p set copies_gib = held.gib
from (select service_id, sum(promised_gib) as gib from vps_snapshots group by service_id) held
where held.service_id = p.service_id;
update nodes n set copies_gib = held.gib, disk_gib_taken = n.disk_gib_taken + held.gib
from (select node_id, sum(copies_gib) as gib from placements group by node_id) held
where held.node_id = n.id;
