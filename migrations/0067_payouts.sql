-- Money on its way from a payment provider to the bank, and payments that the provider has and the database does not.

create table payouts (
  id bigint primary key,
  driver text not null,
  reference text not null,
  -- `failed`: the bank did not take it, maybe days after it seemed to. `over`: it was called off.
  state text not null check (state in ('pending', 'paid', 'failed', 'over')),
  -- Negative when the provider took from the bank what it was owed.
  amount_minor bigint not null,
  currency text not null,
  arrives_on date not null,
  failure text,
  -- What of it, and of what it cost, is in the ledger.
  booked_minor bigint not null default 0,
  fee_minor bigint not null default 0,
  fee_currency text,
  -- The movement at the bank that it is.
  bank_entry_id bigint references bank_entries,
  seen_at timestamptz not null,
  constraint payouts_reference unique (driver, reference),
  constraint payouts_bank_entry unique (bank_entry_id)
);
create index payouts_newest on payouts (seen_at desc, id desc);
create index payouts_unmatched on payouts (currency, amount_minor, arrives_on) where bank_entry_id is null;
create index payouts_failed on payouts (arrives_on desc, id desc) where state = 'failed';

-- What was asked of a provider by us, says the provider, and stands in no row: the database is an older backup, and what the
-- payment was for is in none either. A person decides.
create table unknown_payments (
  id bigint primary key,
  driver text not null,
  reference text not null,
  -- Whose it was, if that is still known.
  organization_id bigint references organizations,
  -- The invoice that it was for, as the provider tells it.
  told_invoice_id bigint,
  amount_minor bigint not null,
  currency text not null,
  state text not null check (state in ('open', 'booked', 'dismissed')),
  -- What it was booked for.
  invoice_id bigint references invoices,
  -- Why it is none of ours.
  reason text,
  seen_at timestamptz not null,
  decided_by bigint,
  decided_at timestamptz,
  constraint unknown_payments_reference unique (driver, reference),
  constraint unknown_payments_booked check ((state = 'booked') = (invoice_id is not null))
);
create index unknown_payments_newest on unknown_payments (seen_at desc, id desc);
create index unknown_payments_open on unknown_payments (seen_at desc, id desc) where state = 'open';

-- A change of product with another cycle begins a new period: how long, and from when to when. Null: the one that runs goes on.
alter table service_changes
  add column cycle text,
  add column starts_on date,
  add column ends_on date,
  add constraint service_changes_period check ((cycle is null) = (starts_on is null) and (cycle is null) = (ends_on is null));
