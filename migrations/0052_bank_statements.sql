-- What the bank says, entry by entry, and what became of each. Transfers can be taken back.

create table bank_statements (
  id bigint primary key,
  account text not null,
  -- The bank's own name for it.
  name text not null,
  -- Of all that was read of it: the same statement twice is one.
  digest bytea not null,
  -- How many of its entries an earlier one had brought already.
  known_entries integer not null,
  user_id bigint,
  created_at timestamptz not null,
  constraint bank_statements_digest unique (digest)
);
create index bank_statements_newest on bank_statements (created_at desc, id desc);

create table bank_entries (
  id bigint primary key,
  statement_id bigint not null references bank_statements,
  ordinal integer not null,
  -- Whose it turned out to be.
  organization_id bigint references organizations,
  -- Of everything that tells it from others: statements that overlap do not bring it twice.
  fingerprint bytea not null,
  account text not null,
  direction text not null check (direction in ('in', 'out')),
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  booked_on date not null,
  reference text not null,
  name text,
  iban text,
  text text not null,
  is_reversal boolean not null,
  -- `waiting`: to be looked at by the product; `open` and `proposed` wait for staff.
  state text not null check (state in ('waiting', 'booked', 'proposed', 'open', 'outgoing', 'dismissed')),
  -- Why it is open, or what became of it, in words for staff.
  outcome text,
  proposals jsonb not null default '[]',
  transfer_id bigint references transfers,
  user_id bigint,
  decided_at timestamptz,
  constraint bank_entries_ordinal unique (statement_id, ordinal),
  constraint bank_entries_fingerprint unique (fingerprint),
  constraint bank_entries_booked check ((state = 'booked') = (transfer_id is not null))
);
create index bank_entries_waiting on bank_entries (statement_id, ordinal) where state = 'waiting';
create index bank_entries_for_staff on bank_entries (booked_on desc, id desc) where state in ('proposed', 'open');
create index bank_entries_iban on bank_entries (iban, booked_on desc) where state = 'booked' and iban is not null;
create index bank_entries_transfer on bank_entries (transfer_id) where transfer_id is not null;

-- What is due, for who is looked for by an amount.
create index invoices_due on invoices (currency, (total_minor - paid_minor)) where status = 'unpaid';

-- A transfer that was booked by mistake is taken back: its reference can be booked again.
alter table transfers
  add column taken_back_at timestamptz,
  add column taken_back_by bigint,
  add column taken_back_why text,
  drop constraint transfers_reference;
create unique index transfers_reference on transfers (reference) where taken_back_at is null;
create index transfers_newest on transfers (created_at desc, id desc);
create index transfers_search on transfers (lower(reference) collate "C", id);

-- What of a payment was taken back before its invoice was paid in full.
alter table payments
  add column taken_back_minor bigint not null default 0,
  add constraint payments_taken_back check (taken_back_minor between 0 and amount_minor);

-- The methods that there are stand in the code.
alter table refunds drop constraint refunds_method_check;
