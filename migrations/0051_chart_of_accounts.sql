-- The chart of accounts (src/billing/ledger/accounts.ts) as the database holds it.

alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts
  add constraint ledger_accounts_kind_check check (kind in ('bank', 'provider', 'receivable', 'disputes', 'credit',
    'parts', 'deferred', 'tax', 'revenue', 'goodwill', 'fees')),
  -- An account is a customer's or the provider's by its kind.
  add constraint ledger_accounts_whose check ((kind in ('receivable', 'credit')) = (organization_id is not null));

-- Every night all balances are computed anew from their entries, a batch at a time: how far that is.
create table ledger_checks (
  singleton boolean primary key default true check (singleton),
  stage text not null check (stage in ('transactions', 'credit', 'totals', 'done')),
  -- The last transaction or account that was looked at.
  reached bigint not null,
  started_at timestamptz not null,
  finished_at timestamptz
);

-- What is shown and is not what the entries say, since the check that found it first.
create table ledger_differences (
  id bigint generated always as identity primary key,
  organization_id bigint,
  what text not null,
  subject text not null,
  message text not null,
  since timestamptz not null,
  seen_at timestamptz not null,
  constraint ledger_differences_once unique (what, subject)
);
