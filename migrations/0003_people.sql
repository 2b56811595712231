-- People, what they sign in with, and the organizations they act in.
-- Ids are random 53-bit integers chosen by the product, so that nothing can be counted from outside.

create table users (
  id bigint primary key,
  email text not null,
  first_name text not null default '',
  last_name text not null default '',
  password_hash text not null,
  phone text,
  billing_email text,
  abuse_email text,
  status text not null default 'active' check (status in ('active', 'blocked', 'closed')),
  -- Null for customers.
  staff_role text check (staff_role in ('administrator', 'billing', 'support', 'operator')),
  email_verified boolean not null default false,
  email_subscribed boolean not null default false,
  show_cancelled_items boolean not null default false,
  default_organization_id bigint,
  last_activity_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index users_email on users (lower(email));

create table api_keys (
  id bigint primary key,
  user_id bigint not null references users,
  name text not null,
  -- The first characters, so that people recognise a key; the rest is only kept as a hash.
  prefix text not null,
  hash bytea not null,
  billing boolean not null default true,
  shield boolean not null default true,
  vps boolean not null default true,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null
);
create unique index api_keys_hash on api_keys (hash);
create index api_keys_user on api_keys (user_id, created_at desc);

create table ssh_keys (
  id bigint primary key,
  user_id bigint not null references users,
  name text not null,
  type text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null,
  constraint ssh_keys_fingerprint unique (user_id, fingerprint)
);
create index ssh_keys_user on ssh_keys (user_id, created_at);

create table organizations (
  id bigint primary key,
  name text not null,
  country text,
  tax_id text,
  billing_address text,
  require_2fa boolean not null default false,
  created_at timestamptz not null
);

create table memberships (
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  role text not null check (role in ('owner', 'admin', 'billing', 'technical', 'support', 'viewer')),
  joined_at timestamptz not null,
  primary key (organization_id, user_id)
);
create index memberships_user on memberships (user_id, joined_at);
