-- Packets that somebody waits for at a node of another process: gone once they are told.
create table shield_traces (
  id bigint primary key,
  organization_id bigint not null references organizations,
  node_id bigint not null references nodes,
  kind jsonb not null,
  packets integer not null,
  seconds integer not null,
  -- Null as long as they are waited for.
  traced jsonb,
  -- By its code: `not_supported` where the edge traces none.
  error text,
  created_at timestamptz not null
);
create index shield_traces_organization on shield_traces (organization_id);
create index shield_traces_created on shield_traces (created_at);
