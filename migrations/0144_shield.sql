-- What customers want of the packets to their addresses, and what an edge does about it.

-- What a group of rules came from: a preset, which can be renewed or taken away as one.
create table shield_groups (
  id integer primary key,
  organization_id bigint not null references organizations,
  preset text not null,
  destination cidr not null,
  note text,
  ips cidr[],
  list_dated date,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index shield_groups_organization on shield_groups (organization_id, id);

create table shield_limiters (
  id integer primary key,
  organization_id bigint not null references organizations,
  name text not null,
  packets_per_second bigint,
  bits_per_second bigint,
  per text not null check (per in ('rule', 'source', 'destination')),
  burst integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (packets_per_second is not null or bits_per_second is not null)
);
create unique index shield_limiters_name on shield_limiters (organization_id, lower(name));

create table shield_rules (
  id integer primary key,
  -- Of rules with the same order the older one comes first.
  age bigint generated always as identity,
  organization_id bigint not null references organizations,
  destination cidr not null,
  -- Addresses of a wider destination that the organization has no more: the rule is not theirs.
  given_back inet[] not null default '{}',
  source cidr,
  action text not null check (action in ('permit', 'deny')),
  protocol smallint not null,
  rank integer not null check (rank between 0 and 10000),
  note text,
  source_port jsonb,
  destination_port jsonb,
  matches jsonb not null,
  limiter_id integer references shield_limiters,
  group_id integer references shield_groups,
  disabled boolean not null,
  expires_at timestamptz,
  -- Which policy of its addresses has it first as it stands here.
  generation bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  enforced_generation bigint,
  enforced_active boolean not null default false,
  enforced_since timestamptz
);
create index shield_rules_rank on shield_rules (organization_id, rank, age);
create index shield_rules_destination on shield_rules (organization_id, destination);
create index shield_rules_wide on shield_rules (organization_id)
  where masklen(destination) < case family(destination) when 4 then 32 else 128 end;
create index shield_rules_limiter on shield_rules (limiter_id) where limiter_id is not null;
create index shield_rules_group on shield_rules (group_id) where group_id is not null;
create index shield_rules_expiry on shield_rules (expires_at) where expires_at is not null and not disabled;

-- The policy of one address: what is wanted, and what is in force.
create table shield_addresses (
  address inet primary key,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  generation bigint not null default 0,
  unmatched text not null default 'permit' check (unmatched in ('permit', 'deny')),
  level text not null default 'medium' check (level in ('off', 'low', 'medium', 'high')),
  mode text not null default 'monitor' check (mode in ('monitor', 'enabled')),
  mitigation text not null default 'auto' check (mitigation in ('auto', 'permanent')),
  thresholds jsonb not null default '{}',
  updated_at timestamptz not null,
  in_force bigint,
  in_force_node bigint references nodes,
  in_force_since timestamptz,
  error text,
  error_since timestamptz,
  -- Tried out after `generation`, until the edge ends it by itself.
  trial_id integer,
  trial_generation bigint,
  trial_until timestamptz
);
create index shield_addresses_organization on shield_addresses (organization_id, address);
create index shield_addresses_service on shield_addresses (service_id);
create index shield_addresses_error on shield_addresses (error_since desc, service_id desc) where error is not null;

-- What each writing of a policy had counted when it was last read. Those that an edge has forgotten are added up in one row, whose
-- writing has no name.
create table shield_counts (
  rule_id integer not null references shield_rules on delete cascade,
  writing text not null,
  address inet,
  node_id bigint references nodes,
  packets bigint not null,
  bytes bigint not null,
  dropped_packets bigint not null,
  dropped_bytes bigint not null,
  primary key (rule_id, writing),
  check ((writing = '') = (address is null) and (writing = '') = (node_id is null))
);
create index shield_counts_address on shield_counts (address);

-- Policies that were put in force as one, for a while or for good.
create table shield_applies (
  id integer primary key,
  organization_id bigint not null references organizations,
  addresses inet[] not null,
  destinations cidr[] not null,
  rules jsonb not null,
  generation bigint not null,
  state text not null check (state in ('applied', 'trying', 'confirmed', 'cancelled', 'superseded')),
  confirm_until timestamptz,
  -- Of a trial: since when the edge has it, and why it has not.
  in_force_since timestamptz,
  error text,
  created_at timestamptz not null,
  ended_at timestamptz
);
create index shield_applies_organization on shield_applies (organization_id, created_at);
