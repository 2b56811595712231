-- Services whose customer was told last that their server cannot be used; without a row: that it can, or nothing.
create table dedicated_outages (
  service_id bigint primary key,
  told_at timestamptz not null
);
-- Those that are out of order already read so, and are told when that is over.
insert into dedicated_outages (service_id, told_at)
select s.service_id, now() from servers s where s.state = 'rented' and s.service_id is not null and s.out_of_order is not null;

-- How the server of a service was to be after something with it had failed, and is not yet: since which action, `on` or `off`, and why not, for staff; null: it is as it should be.
alter table dedicated_systems
  add column left_action_id bigint,
  add column left_wanted text check (left_wanted in ('on', 'off')),
  add column left_problem text,
  add column left_since timestamptz;
create index dedicated_systems_left on dedicated_systems (left_since desc, service_id desc) where left_since is not null;

-- The service that has had this server since it was wiped last: from when it was its customer's, or what was installed for it was on the disks; null: none has.
alter table servers add column tenant_service_id bigint;
update servers s set tenant_service_id = coalesce(s.service_id, s.move_service_id, s.unwiped_service_id)
where s.state = 'rented' or exists (
  select from server_assignments g where g.server_id = s.id and g.kind = 'install' and g.state = 'done'
    and not exists (select from server_assignments w where w.server_id = s.id and w.kind = 'wipe' and w.state = 'done' and w.id > g.id));

-- Of a server that comes back: whether its service had had it, so that how it was wiped is proved to its customer.
alter table server_assignments add column of_tenant boolean not null default true;
