-- Staff that acts as a customer, in one of their organizations, for half an hour.

create table impersonations (
  id bigint primary key,
  staff_id bigint not null references users,
  user_id bigint not null references users,
  -- The one organization that it reaches; null for who is in none.
  organization_id bigint references organizations,
  reason text not null,
  -- SHA-256 of the token.
  hash bytea not null,
  read_only boolean not null,
  expires_at timestamptz not null,
  -- When staff ended it before.
  ended_at timestamptz,
  created_at timestamptz not null
);
create unique index impersonations_hash on impersonations (hash);
create index impersonations_created on impersonations (created_at desc, id desc);
