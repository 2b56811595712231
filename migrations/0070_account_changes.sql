-- What people change of their account themselves.

alter table users
  add column language text not null default 'en',
  add column timezone text not null default 'UTC',
  add column theme text not null default 'system' check (theme in ('system', 'light', 'dark')),
  -- Mails that somebody does not want: `{"services": false}`. What is absent is wanted.
  add column notifications jsonb not null default '{}';

-- Until now lists showed cancelled items to everybody, whatever this said.
alter table users alter column show_cancelled_items set default true;
update users set show_cancelled_items = true;

-- A change of an address: asked for, confirmed at the new one, and for a week to be taken back from the old one.
create table email_changes (
  id bigint primary key,
  user_id bigint not null references users,
  old_email text not null,
  new_email text not null,
  -- `taken`: somebody else has the address, which only a mail to it tells.
  state text not null check (state in ('asked', 'replaced', 'taken', 'confirmed')),
  -- Of the link that is good now: to confirm, and then to take back.
  hash bytea not null,
  until timestamptz not null,
  created_at timestamptz not null
);
create unique index email_changes_hash on email_changes (hash);
create index email_changes_user on email_changes (user_id, created_at);
create index email_changes_until on email_changes (until);
-- Nobody else takes an address that its person can still have back.
create index email_changes_held on email_changes (lower(old_email)) where state = 'confirmed';
