-- Money by a payment provider: who an organization is there, the methods it saved, what was asked of it, and what the
-- provider told us. No card number is here: what is known of a method is what its owner reads.

create table provider_customers (
  organization_id bigint not null references organizations,
  driver text not null,
  reference text not null,
  created_at timestamptz not null,
  primary key (organization_id, driver),
  constraint provider_customers_reference unique (driver, reference)
);

create table payment_methods (
  id bigint primary key,
  organization_id bigint not null references organizations,
  driver text not null,
  reference text not null,
  type text not null,
  brand text,
  last4 text,
  expires_month integer,
  expires_year integer,
  -- The one that renewals are charged to.
  is_default boolean not null default false,
  created_at timestamptz not null,
  -- Null while it can be charged.
  removed_at timestamptz,
  constraint payment_methods_reference unique (driver, reference),
  check (not is_default or removed_at is null)
);
create unique index payment_methods_default on payment_methods (organization_id) where is_default;
create index payment_methods_organization on payment_methods (organization_id, created_at, id)
  where removed_at is null;

-- Money that a provider is asked for: on a page that the customer goes to, or of a saved method. Like a transfer, it pays an
-- invoice, and what is more than due becomes credit.
create table charges (
  id bigint primary key,
  organization_id bigint not null references organizations,
  invoice_id bigint not null references invoices,
  driver text not null,
  means text not null check (means in ('page', 'saved')),
  method_id bigint references payment_methods,
  -- 1, 2, 3 … of those that we begin by ourselves; null when the customer asked for it.
  attempt integer,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  -- The rest of the invoice is taken from credit when this money comes.
  uses_credit boolean not null,
  state text not null check (state in ('open', 'pending', 'paid', 'failed', 'over')),
  -- The provider's name for the payment; null until there is one.
  reference text,
  -- The newest page, and how many there were: one ends after a day.
  page_reference text,
  page_url text,
  page_expires_at timestamptz,
  pages integer not null default 0,
  decline_code text,
  decline_message text,
  -- What the provider kept, as it is in the ledger.
  fee_minor bigint not null default 0,
  fee_currency text,
  created_at timestamptz not null,
  finished_at timestamptz,
  constraint charges_reference unique (driver, reference),
  check (state <> 'paid' or reference is not null),
  check ((means = 'saved') = (method_id is not null))
);
create index charges_invoice on charges (invoice_id, id);
create index charges_under_way on charges (created_at) where state in ('open', 'pending');

-- What the provider told us, each once. It says only where to look.
create table provider_events (
  driver text not null,
  reference text not null,
  type text not null,
  -- By the provider's clock.
  made_at timestamptz not null,
  received_at timestamptz not null,
  primary key (driver, reference)
);
create index provider_events_made on provider_events (driver, made_at desc);

alter table payments
  add column charge_id bigint references charges,
  add constraint payments_of_charge unique (charge_id, invoice_id),
  drop constraint payments_method_check,
  add constraint payments_method_check check (method in ('credit', 'bank_transfer', 'none', 'stripe'));

-- What lies at the payment provider, and what it keeps for its work.
alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts add constraint ledger_accounts_kind_check
  check (kind in ('credit', 'bank', 'revenue', 'tax', 'goodwill', 'parts', 'provider', 'fees', 'disputes'));
