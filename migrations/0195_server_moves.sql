-- The service that is to get this server instead of the one it has (held), or that has got another one instead of this (returning).
alter table servers
  add column move_service_id bigint,
  add constraint servers_of_move check (move_service_id is null or (service_id is null and state in ('held', 'returning'))),
  drop constraint servers_customer_work_check,
  add constraint servers_customer_work_check check (customer_work in ('reinstall', 'rescue', 'rescue_off', 'move'));
-- A service goes to one server at a time; several that it has left may be on their way back.
create unique index servers_move_to on servers (move_service_id) where state = 'held' and move_service_id is not null;

-- Whom an installed system lets in, and how its disks were laid out: what is installed instead of it on another server is to be the same.
-- Gone once something else is on the disks. Null: not known.
alter table server_assignments
  add column keys jsonb,
  add column has_password boolean,
  add column layout text check (layout in ('single', 'raid1'));

-- Services that staff has moved from one server to another, or tried to.
create table dedicated_moves (
  id bigint primary key,
  service_id bigint not null references services,
  organization_id bigint not null references organizations,
  from_server_id bigint not null references servers,
  to_server_id bigint not null references servers,
  -- For staff, in the words of whoever moved it.
  reason text not null,
  -- Staff has pulled the power of the server before, so nobody asks its BMC.
  unplugged boolean not null,
  -- The password of the system on the new server, sealed, until it is its customer's to be shown; null: none was made.
  password bytea,
  asked_at timestamptz not null,
  -- Null: it is under way. Whether the service went over.
  ended_at timestamptz,
  moved boolean,
  -- Why it did not, for staff.
  problem text,
  constraint dedicated_moves_ended check ((ended_at is null) = (moved is null))
);
create unique index dedicated_moves_one on dedicated_moves (service_id) where ended_at is null;
create index dedicated_moves_service on dedicated_moves (service_id, id);
create index dedicated_moves_organization on dedicated_moves (organization_id);
