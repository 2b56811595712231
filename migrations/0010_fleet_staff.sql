-- What staff decides about the fleet: what a node may promise, pools of addresses, images and how far they are.

-- Physical figures stay as the node reports them; what it may promise follows from what staff decided.
update nodes set cpu_cores = cpu_cores / 8;
alter table nodes
  add column cpu_overcommit double precision not null default 8 check (cpu_overcommit between 1 and 64),
  add column memory_reserve_mib integer not null default 0 check (memory_reserve_mib >= 0),
  add column disk_reserve_gib integer not null default 0 check (disk_reserve_gib >= 0),
  -- Whether the node was heard of lately; one that is silent gets no machines.
  add column reachable boolean not null default true;
alter table nodes
  add column cpu_cores_promised integer not null
    generated always as (floor(cpu_cores * cpu_overcommit)::integer) stored,
  add column memory_mib_promised integer not null
    generated always as (greatest(memory_mib - memory_reserve_mib, 0)) stored,
  add column disk_gib_promised integer not null
    generated always as (greatest(disk_gib - disk_reserve_gib, 0)) stored;

-- No address is in two pools.
alter table address_pools
  add constraint address_pools_apart exclude using gist (network inet_ops with &&),
  add constraint address_pools_rest check (rest_hours between 0 and 8760);

-- Reserved: staff keeps it for something that is no machine. Held: taken for a change that is not paid yet, so
-- it is on no machine.
alter table addresses drop constraint addresses_state_check;
alter table addresses
  add constraint addresses_state_check check (state in ('free', 'taken', 'resting', 'reserved')),
  add column note text,
  add column held boolean not null default false,
  add check (not held or state = 'taken');
create index addresses_pool on addresses (pool_id, address);

alter table images
  -- What the journal calls an image by.
  add column id bigint generated always as identity unique,
  add column state text not null default 'new' check (state in ('new', 'preparing', 'ready', 'failed')),
  add column progress text,
  add column error text,
  add column prepared_at timestamptz;

-- An image that a machine was made from stays.
alter table machines add constraint machines_image foreign key (image) references images (slug);
create index machines_image on machines (image);
