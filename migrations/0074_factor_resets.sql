-- A lost second factor: staff has it taken from an account, which happens days after its person was told.

create table factor_resets (
  user_id bigint primary key references users,
  asked_by bigint not null references users,
  reason text not null,
  -- Of the link by which the person stops it.
  hash bytea not null,
  -- The entry whose mail tells the person; the days begin when that mail is on its way.
  journal_id bigint,
  -- The first moment at which it can happen.
  due_at timestamptz not null,
  created_at timestamptz not null
);
create unique index factor_resets_hash on factor_resets (hash);
create index factor_resets_due on factor_resets (due_at);
