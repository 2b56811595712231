-- The VPS manager: settings, snapshots, keys on machines, consoles, charts, upgrades.

alter table machines
  add column boot text not null default 'disk' check (boot in ('disk', 'network', 'rescue')),
  add column protect_delete boolean not null default false,
  add column protect_reinstall boolean not null default false,
  add column nameservers inet[] not null default '{9.9.9.9,149.112.112.112}',
  add column backup_enabled boolean not null default false,
  add column backup_hour integer not null default 3 check (backup_hour between 0 and 23),
  add column backup_keep integer not null default 3 check (backup_keep between 1 and 7),
  add column backed_up_at timestamptz,
  add column notifications jsonb not null default '{}';

create table vps_snapshots (
  service_id bigint not null references services,
  organization_id bigint not null,
  name text not null,
  -- A backup is a whole copy beside the disk, made at night; a snapshot lives in the disk.
  kind text not null default 'snapshot' check (kind in ('snapshot', 'backup')),
  description text,
  state text not null check (state in ('creating', 'ready', 'restoring', 'deleting', 'error')),
  size_bytes bigint,
  parent text,
  created_at timestamptz not null,
  primary key (service_id, name)
);

-- SSH keys that the machine was told to let in.
create table vps_access (
  service_id bigint not null references services,
  organization_id bigint not null,
  ssh_key_id bigint not null,
  name text not null,
  fingerprint text not null,
  public_key text not null,
  primary key (service_id, ssh_key_id)
);

-- Passwords and user data on their way to a machine: sealed, and gone when their action ends.
create table vps_secrets (
  action_id bigint primary key,
  organization_id bigint not null,
  sealed bytea not null
);

-- A ticket opens one console once, within seconds.
create table console_tickets (
  hash bytea primary key,
  organization_id bigint not null,
  service_id bigint not null references services,
  user_id bigint not null,
  api_key_id bigint,
  kind text not null check (kind in ('vnc', 'serial')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_tickets_expiry on console_tickets (expires_at);

-- Charts: one row a machine, resolution and interval; old rows of each resolution go.
create table vps_samples (
  service_id bigint not null,
  organization_id bigint not null,
  interval_s integer not null,
  time timestamptz not null,
  cpu real not null,
  mem bigint not null,
  maxmem bigint not null,
  disk_read real not null,
  disk_write real not null,
  netin real not null,
  netout real not null,
  primary key (service_id, interval_s, time)
);
create index vps_samples_old on vps_samples (interval_s, time);

-- What each machine sent and received, by calendar month in UTC.
create table vps_traffic (
  service_id bigint not null,
  organization_id bigint not null,
  month date not null,
  bytes bigint not null,
  primary key (service_id, month)
);

-- A change of size that was ordered: it counts when its invoice is paid, and is forgotten when it expires.
create table service_upgrades (
  id bigint primary key,
  organization_id bigint not null,
  service_id bigint not null references services,
  invoice_id bigint,
  options jsonb not null,
  price_minor bigint not null,
  state text not null check (state in ('waiting', 'applied', 'expired')),
  created_at timestamptz not null
);
create unique index service_upgrades_one on service_upgrades (service_id) where state = 'waiting';
create index service_upgrades_invoice on service_upgrades (invoice_id);
