-- What its customer has done with a server beside its power; nobody else switches it meanwhile.
alter table servers add column customer_work text check (customer_work in ('reinstall', 'rescue', 'rescue_off'));

alter table server_assignments
  -- The disks that alone are wiped, of a server that is somebody's and may have others; null: all of them.
  add column wipe jsonb,
  -- When the server was given its plan first; null: nothing was done to a disk.
  add column given_at timestamptz,
  -- Since when the rescue system of this start runs. Its assignment goes on: whenever the server starts, it starts that.
  add column reached_at timestamptz;
create index server_assignments_rescue on server_assignments (id) where kind = 'rescue' and state in ('open', 'working');

-- What its customer has made of a server since it was delivered, by its service.
create table dedicated_systems (
  service_id bigint primary key,
  -- What it is called and what was installed last; null: as it was ordered.
  os text,
  hostname text,
  -- Why what is on its disks does not start, and what to do about it, for its customer; null: nothing is known to be wrong.
  problem text
);
