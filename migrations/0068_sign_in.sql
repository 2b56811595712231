-- How people sign in by themselves: sessions, the browsers they come from, and the links that mails bring them.

create table devices (
  id bigint primary key,
  user_id bigint not null references users,
  -- SHA-256 of what the browser keeps.
  hash bytea not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint devices_once unique (hash, user_id)
);
create index devices_user on devices (user_id, last_seen_at desc);

create table sessions (
  id bigint primary key,
  user_id bigint not null references users,
  -- SHA-256 of the token, which itself stands nowhere.
  hash bytea not null,
  -- The password was right and the second factor is still to come: reaches its challenge and nothing else.
  half boolean not null,
  -- A second factor or a passkey was shown.
  strong boolean not null,
  method text not null check (method in ('password', 'passkey')),
  device_id bigint references devices on delete set null,
  ip inet,
  user_agent text,
  proven_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create unique index sessions_hash on sessions (hash);
create index sessions_user on sessions (user_id, created_at desc, id desc);
create index sessions_device on sessions (device_id);
create index sessions_expiry on sessions (expires_at);
create index sessions_idle on sessions (last_seen_at);

-- What a link in a mail is good for, once. Its token is made of the id by the secret key, and kept as a hash.
create table account_links (
  id bigint primary key,
  user_id bigint not null references users,
  kind text not null check (kind in ('verify', 'reset')),
  hash bytea not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create unique index account_links_hash on account_links (hash);
create index account_links_user on account_links (user_id);
create index account_links_expiry on account_links (expires_at);

-- What somebody asked for by an address, until a job has seen to it: whether there is an account is its to find out,
-- so that the answer to the request cannot tell.
create table address_requests (
  id bigint primary key,
  kind text not null check (kind in ('register', 'verify', 'reset')),
  email text not null,
  data jsonb not null,
  ip inet,
  request_id text,
  created_at timestamptz not null
);

-- A link that the stored text of a mail does not hold: it is put in where the mail leaves the product.
alter table mails add column link jsonb;
