-- What came to an address that was an attack, from its start to its end.
create table shield_attacks (
  id bigint primary key,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  address inet not null,
  -- Whose edge sees it.
  node_id bigint not null references nodes,
  kind text not null
    check (kind in ('fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other', 'total')),
  -- Of a reflection: the port that most of it came from.
  of integer,
  ratio double precision not null,
  readings integer not null,
  started_at timestamptz not null,
  last_over_at timestamptz not null,
  ended_at timestamptz,
  peak_pps double precision not null,
  peak_mbps double precision not null,
  packets bigint not null,
  bytes bigint not null,
  -- Packets by the port that they were reflected from.
  ports jsonb not null,
  -- What the edge had counted for the address when this was written: whoever goes on misses nothing.
  counted jsonb not null,
  -- When it was noticed, and when its end was: what lists go by, which are asked once a minute.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  check ((ended_at is null) = (closed_at is null))
);
create unique index shield_attacks_open on shield_attacks (address) where ended_at is null;
create index shield_attacks_node on shield_attacks (node_id) where ended_at is null;
create index shield_attacks_organization on shield_attacks (organization_id, started_at, id);
create index shield_attacks_closed on shield_attacks (organization_id, closed_at);
create index shield_attacks_address on shield_attacks (address, created_at);
