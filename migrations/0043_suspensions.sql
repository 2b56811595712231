-- Services that may not be used for a while, or have ended.

alter table services
  -- What the calendar suspended for want of money, a payment takes back; what staff did, staff does.
  add column suspended_by text check (suspended_by in ('staff', 'calendar')),
  add column terminated_at timestamptz;

-- What staff has yet to do by hand with a service that no room looks after.
create table service_tasks (
  service_id bigint not null references services,
  organization_id bigint not null,
  task text not null,
  since timestamptz not null,
  primary key (service_id, task)
);
create index service_tasks_since on service_tasks (since desc, service_id desc);
