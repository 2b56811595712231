-- What a key is kept to besides areas; null keeps it to nothing.

alter table api_keys
  -- Names of permissions.
  add column scopes text[] check (cardinality(scopes) > 0),
  add column organization_ids bigint[] check (cardinality(organization_ids) > 0),
  -- Networks that it is good from.
  add column ip_allowlist inet[] check (cardinality(ip_allowlist) > 0),
  -- Whatever it asks for is tried out and taken back.
  add column test boolean not null default false,
  add column last_used_ip inet,
  -- When its person was told that it ends soon.
  add column warned_at timestamptz;
create index api_keys_ending on api_keys (expires_at) where revoked_at is null and warned_at is null;
