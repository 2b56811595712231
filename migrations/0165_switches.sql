-- What servers are plugged into.
create table switches (
  id bigint generated always as identity primary key,
  name text not null constraint switches_name unique,
  location text not null,
  address inet not null,
  port integer not null check (port between 1 and 65535),
  username text not null,
  auth_protocol text not null,
  -- Both passphrases, sealed as one.
  passphrases bytea not null,
  note text,
  -- Goes up whenever it is to be reached in another way: what was read of it before says nothing then.
  generation integer not null default 1,
  check_state text not null default 'checking' check (check_state in ('checking', 'ok', 'failed')),
  checked_at timestamptz,
  description text,
  -- Whether it can be told which VLAN a port is in; null until it was read.
  sets_vlans boolean,
  problem text,
  -- When it was heard of last.
  heard_at timestamptz,
  created_at timestamptz not null,
  constraint switches_address unique (address, port)
);
create index switches_failed on switches (checked_at desc, id desc) where check_state = 'failed';

create table switch_ports (
  switch_id bigint not null references switches on delete cascade,
  name text not null,
  position integer not null,
  label text not null,
  is_up boolean not null,
  speed_mbps integer,
  -- Bytes that it has counted, of 64 bits; null: it counts none.
  in_bytes numeric(20),
  out_bytes numeric(20),
  uptime_ms bigint not null,
  read_at timestamptz not null,
  -- Between the last two readings; null: not known.
  in_mbps double precision,
  out_mbps double precision,
  -- Since when the switch no longer names it.
  gone_at timestamptz,
  primary key (switch_id, name)
);

alter table server_ports
  add column switch_id bigint,
  add column switch_port text,
  add constraint server_ports_plugged check ((switch_id is null) = (switch_port is null)),
  add constraint server_ports_switch_port foreign key (switch_id, switch_port) references switch_ports (switch_id, name);
-- One cable to a port.
create unique index server_ports_once on server_ports (switch_id, switch_port) where switch_id is not null;
