-- Upgrades of a VPS belong to the room of machines. What was asked for stands in the machine's history at once: an
-- action may wait for the machine's lock, which one that waits does not hold.

alter table service_upgrades rename to vps_upgrades;
alter index service_upgrades_one rename to vps_upgrades_one;
alter index service_upgrades_invoice rename to vps_upgrades_invoice;

alter table vps_actions
  add column waits boolean not null default false,
  add check (not waits or status = 'queued');
drop index vps_actions_one;
create unique index vps_actions_one on vps_actions (service_id) where status in ('queued', 'running') and not waits;
