-- What customers own, and the machines behind it.

create table services (
  id bigint primary key,
  organization_id bigint not null references organizations,
  -- 1, 2, 3 … in the organization: pages are found by it, however deep.
  position bigint not null,
  user_id bigint not null,
  product_id bigint not null references products,
  invoice_id bigint not null,
  status text not null check (status in ('pending', 'active', 'suspended', 'cancelled', 'terminated')),
  provisioning_state text not null check (provisioning_state in ('queued', 'running', 'done', 'failed')),
  domain text,
  cycle text not null,
  currency text not null,
  first_price_minor bigint not null,
  price_minor bigint not null,
  duedate date,
  cancelled boolean not null default false,
  suspend_reason text,
  suspended_at timestamptz,
  auto_renew boolean not null default true,
  note text,
  options jsonb not null,
  -- Whether the order took one from the product's stock, which may have had no limit at the time.
  holds_stock boolean not null,
  created_at timestamptz not null,
  constraint services_position unique (organization_id, position)
);
create index services_status on services (organization_id, status, position desc);
create index services_invoice on services (invoice_id);

-- A password on its way to the machine: sealed, and gone once the machine has it.
create table service_secrets (
  service_id bigint primary key,
  organization_id bigint not null,
  sealed bytea not null
);

create table machines (
  service_id bigint primary key references services,
  organization_id bigint not null,
  node_id bigint not null references nodes,
  image text not null,
  hostname text not null,
  cpu_cores integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  port_mbps integer not null,
  mac macaddr not null unique,
  -- What the customer wants, and what was seen last.
  wanted text not null check (wanted in ('running', 'stopped')),
  state text not null check (state in ('creating', 'running', 'stopped', 'starting', 'stopping', 'restarting',
    'reinstalling', 'resizing', 'restoring', 'suspended', 'error', 'deleting')),
  started_at timestamptz,
  repairs integer not null default 0,
  repaired_at timestamptz,
  created_at timestamptz not null
);
create index machines_node on machines (node_id);

create table vps_actions (
  id bigint primary key,
  organization_id bigint not null,
  service_id bigint not null,
  command text not null,
  status text not null check (status in ('queued', 'running', 'success', 'error')),
  progress integer not null default 0 check (progress between 0 and 100),
  initiator_type text not null,
  initiator_id bigint,
  initiator_ip inet,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index vps_actions_history on vps_actions (service_id, created_at desc, id desc);
-- One change at a time on a machine.
create unique index vps_actions_one on vps_actions (service_id) where status in ('queued', 'running');
