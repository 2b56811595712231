-- Invoices, payments and the ledger. Amounts are integers in the currency's minor unit.

create table tax_rates (
  country text primary key check (country ~ '^[A-Z]{2}$'),
  -- Hundredths of a per cent: 2100 is 21 %.
  rate_basis_points integer not null check (rate_basis_points between 0 and 10000)
);

create table invoices (
  id bigint primary key,
  organization_id bigint not null references organizations,
  -- 1, 2, 3 … in the organization: pages are found by it, however deep.
  position bigint not null,
  user_id bigint,
  kind text not null check (kind in ('order', 'renewal', 'upgrade', 'top_up')),
  -- Gapless over the provider; given when the invoice is paid, so that orders nobody pays leave no gap.
  number bigint,
  status text not null check (status in ('draft', 'unpaid', 'paid', 'cancelled', 'refunded', 'partially_refunded')),
  currency text not null,
  subtotal_minor bigint not null,
  discount_minor bigint not null,
  tax_minor bigint not null,
  total_minor bigint not null check (total_minor >= 0),
  tax_rate_basis_points integer not null,
  tax_country text,
  tax_exempt boolean not null,
  coupon_id bigint references coupons,
  paid_with_credit_minor bigint not null default 0,
  expires_at timestamptz not null,
  date_paid timestamptz,
  date_refunded timestamptz,
  created_at timestamptz not null,
  constraint invoices_position unique (organization_id, position),
  constraint invoices_number unique (number),
  check (total_minor = subtotal_minor - discount_minor + tax_minor),
  check ((status in ('paid', 'refunded', 'partially_refunded')) = (number is not null))
);
create index invoices_expiring on invoices (expires_at) where status = 'unpaid';
create index invoices_status on invoices (organization_id, status, position desc);

create table invoice_items (
  invoice_id bigint not null references invoices,
  ordinal integer not null,
  organization_id bigint not null,
  product_id bigint,
  service_id bigint,
  description text not null,
  price_minor bigint not null,
  setup_fee_minor bigint not null,
  discount_minor bigint not null,
  primary key (invoice_id, ordinal)
);
create index invoice_items_service on invoice_items (service_id) where service_id is not null;

-- The last legal number given out; locked for the moment a payment commits.
create table invoice_numbers (
  singleton boolean primary key default true check (singleton),
  last bigint not null
);
insert into invoice_numbers (last) values (0);

create table payments (
  id bigint primary key,
  invoice_id bigint not null references invoices,
  organization_id bigint not null,
  method text not null check (method in ('credit', 'bank_transfer', 'none')),
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  -- What the bank statement says; the same transfer is entered once.
  reference text,
  received_on date,
  created_at timestamptz not null,
  constraint payments_reference unique (method, reference)
);
create index payments_invoice on payments (invoice_id);

-- Double entry. Each entry of a customer's account carries the balance after it, so the newest one is the
-- balance; the provider's own accounts are summed when they are asked for and never contended.
create table ledger_accounts (
  id bigint generated always as identity primary key,
  organization_id bigint references organizations,
  kind text not null check (kind in ('credit', 'bank', 'revenue', 'tax', 'goodwill')),
  currency text not null,
  constraint ledger_accounts_once unique nulls not distinct (organization_id, kind, currency)
);

create table ledger_transactions (
  id bigint generated always as identity primary key,
  organization_id bigint,
  kind text not null,
  invoice_id bigint references invoices,
  description text not null,
  user_id bigint,
  created_at timestamptz not null
);
create index ledger_transactions_organization on ledger_transactions (organization_id, id desc);

create table ledger_entries (
  transaction_id bigint not null references ledger_transactions,
  account_id bigint not null references ledger_accounts,
  organization_id bigint,
  -- Positive: the account is debited.
  amount_minor bigint not null,
  -- Only for accounts of customers: 1, 2, 3 … and what the customer has after this entry.
  sequence bigint,
  balance_minor bigint check (balance_minor >= 0),
  primary key (transaction_id, account_id),
  constraint ledger_entries_sequence unique (account_id, sequence)
);

create trigger ledger_transactions_append_only before update or delete on ledger_transactions
  for each row execute function refuse_change();
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();

create function refuse_unbalanced() returns trigger language plpgsql as $$
begin
  if (select sum(amount_minor) from ledger_entries where transaction_id = new.transaction_id) <> 0 then
    raise exception 'ledger transaction % does not balance', new.transaction_id;
  end if;
  return null;
end $$;
create constraint trigger ledger_entries_balance after insert on ledger_entries
  deferrable initially deferred for each row execute function refuse_unbalanced();
