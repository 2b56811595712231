-- What people show beside their password.

create table totp_factors (
  user_id bigint primary key references users,
  -- The secret that the authenticator app shares, sealed.
  sealed bytea not null,
  -- Null until a code proved that the app has it.
  enabled_at timestamptz,
  -- The newest step whose code was taken: none works twice, and none before it.
  last_step bigint not null,
  created_at timestamptz not null
);

create table recovery_codes (
  user_id bigint not null references users,
  -- Keyed with the secret key; each is good once, and its row goes with it.
  hash bytea not null,
  created_at timestamptz not null,
  primary key (user_id, hash)
);
