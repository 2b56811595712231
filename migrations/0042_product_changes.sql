-- A service that becomes another product: what was asked for, what it costs, and the invoice it waits for.

create table service_changes (
  id bigint primary key,
  organization_id bigint not null,
  service_id bigint not null references services,
  -- Null: nothing was to pay.
  invoice_id bigint references invoices,
  product_id bigint not null references products,
  -- All of them, as they will be.
  options jsonb not null,
  -- Of each period from then on, and what its units are sold for.
  price_minor bigint not null check (price_minor >= 0),
  unit_prices jsonb not null,
  charge_minor bigint not null check (charge_minor >= 0),
  credit_minor bigint not null check (credit_minor >= 0),
  discount_minor bigint not null default 0 check (discount_minor between 0 and charge_minor),
  coupon_id bigint references coupons,
  -- Whether it took one from the stock of the new product.
  holds_stock boolean not null,
  state text not null check (state in ('waiting', 'scheduled', 'applied', 'ended')),
  -- The day from which it counts, when that is not at once.
  effective_on date,
  created_at timestamptz not null,
  check (state <> 'waiting' or invoice_id is not null),
  check ((state = 'scheduled') <= (effective_on is not null))
);
create unique index service_changes_one on service_changes (service_id) where state in ('waiting', 'scheduled');
create unique index service_changes_invoice on service_changes (invoice_id) where invoice_id is not null;
create index service_changes_due on service_changes (effective_on) where state = 'scheduled';

-- What a downgrade with nothing to pay does: it counts at once, or with the next period.
alter table products add column downgrade text not null default 'now' check (downgrade in ('now', 'period_end'));
