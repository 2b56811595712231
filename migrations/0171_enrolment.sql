-- Machines that nobody knows may start from the network until then: they are looked at, and nothing else.
create table server_enrolment (
  is_one boolean primary key default true check (is_one),
  opened_at timestamptz not null,
  open_until timestamptz not null
);

-- Networks that servers start from, as the processes that serve them tell.
create table server_networks (
  name text primary key,
  interface text not null,
  address inet not null,
  -- Why servers cannot start there; null: they can.
  problem text,
  seen_at timestamptz not null
);

-- A machine started from the network and was given a token, of which it and the nonce are never shown.
create table server_starts (
  id bigint generated always as identity primary key,
  -- As it said it; anybody can say another's.
  mac macaddr not null,
  token_hash text not null constraint server_starts_token unique,
  secret_hash text constraint server_starts_secret unique,
  nonce text not null constraint server_starts_nonce unique,
  -- Its nonce was read on the serial line of its BMC.
  proved boolean not null default false,
  opened_at timestamptz not null
);
create index server_starts_mac on server_starts (mac, id);
create index server_starts_opened on server_starts (opened_at, id);

-- A machine that nobody knew, as it said of itself.
create table server_arrivals (
  id bigint generated always as identity primary key,
  start_id bigint constraint server_arrivals_start unique references server_starts on delete set null,
  state text not null check (state in ('waiting', 'accepted', 'enrolled', 'rejected')),
  mac macaddr not null,
  serial text not null,
  inventory jsonb not null,
  -- At which port of which switch each of its MACs was heard.
  plugged jsonb not null default '[]',
  -- Which server it is since it was accepted.
  server_id bigint references servers,
  -- How its BMC is reached, with its password, sealed, from when it was accepted until it is enrolled.
  bmc bytea,
  -- Whether the installer is to set that password from inside, and whether it has.
  bmc_inside text check (bmc_inside in ('wanted', 'set')),
  problem text,
  arrived_at timestamptz not null,
  seen_at timestamptz not null,
  decided_at timestamptz
);
create index server_arrivals_state on server_arrivals (state, id);
create index server_arrivals_mac on server_arrivals (mac);
create index server_arrivals_serial on server_arrivals (serial);
create index server_arrivals_server on server_arrivals (server_id) where server_id is not null;

-- What the installer measured of a server.
alter table servers
  add column hardware jsonb,
  add column measured_at timestamptz;
