create table webhook_endpoints (
  id bigint primary key,
  organization_id bigint not null references organizations,
  url text not null,
  description text not null,
  -- Null: all that there are, also those that come later.
  events text[],
  status text not null check (status in ('enabled', 'paused')),
  -- Why it was paused without its owner asking; null when they asked.
  paused_reason text,
  secret bytea not null,
  -- The one before, which signs as well until then.
  previous_secret bytea,
  previous_until timestamptz,
  -- The entry of its making: what came before it is not sent.
  since_id bigint not null,
  created_by bigint not null references users,
  -- Since when no try has succeeded.
  failing_since timestamptz,
  last_success_at timestamptz,
  created_at timestamptz not null,
  check ((previous_secret is null) = (previous_until is null))
);
create index webhook_endpoints_of on webhook_endpoints (organization_id, created_at, id);

create table webhook_deliveries (
  id bigint primary key,
  organization_id bigint not null,
  endpoint_id bigint not null references webhook_endpoints on delete cascade,
  -- Null: a test, which nothing happened for.
  journal_id bigint,
  event text not null,
  body text not null,
  state text not null check (state in ('waiting', 'delivered', 'failed')),
  -- Since it was last begun anew; all that were made stand in webhook_attempts.
  tries integer not null default 0,
  next_try_at timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (endpoint_id, journal_id),
  check ((state = 'waiting') = (next_try_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_try_at, id) where state = 'waiting';
create index webhook_deliveries_of on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_all on webhook_deliveries (created_at, id);

create table webhook_attempts (
  delivery_id bigint not null references webhook_deliveries on delete cascade,
  organization_id bigint not null,
  tried_at timestamptz not null,
  duration_ms integer not null,
  -- Null when there was no answer.
  status integer,
  error text,
  answer text
);
create index webhook_attempts_of on webhook_attempts (delivery_id, tried_at);

-- Up to which entry of the journal deliveries were made.
create table webhook_cursor (
  position bigint not null,
  only_row boolean primary key default true check (only_row)
);
insert into webhook_cursor (position) select coalesce(max(id), 0) from journal;
