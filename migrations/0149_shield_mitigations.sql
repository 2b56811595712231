-- Senders whose traffic is no attack.
alter table shield_addresses add column whitelist cidr[] not null default '{}';
-- The machine has no SYN cookies.
alter table shield_addresses add column synproxy boolean not null default false;

-- What is done against attacks: each measure, from its beginning to its release.
create table shield_mitigations (
  id bigint primary key,
  attack_id bigint not null references shield_attacks,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  address inet not null,
  kind text not null
    check (kind in ('fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other', 'total')),
  measure text not null,
  -- Of what is reflected: where it comes from.
  ports integer[] not null,
  -- What came, what went past that which was done before, and what its limit was.
  why jsonb not null,
  started_at timestamptz not null,
  in_force_since timestamptz,
  packets bigint not null,
  bytes bigint not null,
  error text,
  error_since timestamptz,
  -- Somebody wants it released: whoever follows the attack does so.
  asked_at timestamptz,
  asked_by text check (asked_by in ('owner', 'staff')),
  released_at timestamptz,
  because text,
  check ((released_at is null) = (because is null) and (asked_at is null) = (asked_by is null))
);
create index shield_mitigations_attack on shield_mitigations (attack_id, started_at, id);
create index shield_mitigations_address on shield_mitigations (address, started_at);
create index shield_mitigations_standing on shield_mitigations (address) where released_at is null;
create index shield_mitigations_organization on shield_mitigations (organization_id);
create index shield_mitigations_error on shield_mitigations (error_since desc, id desc)
  where error is not null and released_at is null;

-- The filter that stands before an address against attacks, as its edge is to have it.
create table shield_filters (
  address inet primary key,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  -- Whose edge was told last.
  node_id bigint not null references nodes,
  generation bigint not null,
  -- As it was written: held against what is made anew, letter by letter.
  filter json,
  -- The generation that the edge has; null: none.
  held bigint,
  -- What each rule of each writing had counted when this was written: whoever goes on counts nothing twice.
  tally jsonb not null,
  updated_at timestamptz not null
);
create index shield_filters_node on shield_filters (node_id);
create index shield_filters_organization on shield_filters (organization_id);
