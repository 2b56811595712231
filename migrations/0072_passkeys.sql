-- Passkeys: key pairs that people sign in with. The private half never leaves their device.

create table passkeys (
  id bigint primary key,
  user_id bigint not null references users,
  name text not null,
  -- By which the device knows it.
  credential_id bytea not null,
  -- COSE, as the device gave it.
  public_key bytea not null,
  -- How often the device says it was used; many that are kept in an account of their maker always say 0.
  counter bigint not null,
  -- How a browser reaches the device: usb, internal, hybrid.
  transports text[] not null,
  -- Whether it is kept beyond the one device.
  synced boolean not null,
  last_used_at timestamptz,
  created_at timestamptz not null,
  constraint passkeys_credential unique (credential_id)
);
create index passkeys_user on passkeys (user_id, created_at);

-- What a device is to sign, once. The row goes as soon as anything signed comes back.
create table passkey_challenges (
  -- SHA-256 of the challenge.
  hash bytea primary key,
  purpose text not null check (purpose in ('add', 'sign_in', 'second_factor', 'reauthenticate')),
  -- Null for whoever signs in and has not said who they are.
  user_id bigint references users,
  -- For which it was made: half a session for a second factor, a whole one to add a passkey. No reference: a
  -- session that has ended takes none.
  session_id bigint,
  expires_at timestamptz not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
