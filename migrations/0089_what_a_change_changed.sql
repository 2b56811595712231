-- What a change of product changed, for when all of its money goes back. Null for those that counted before this.
alter table service_changes
  add column product_before bigint references products,
  add column options_before jsonb,
  add column price_before_minor bigint,
  add column unit_prices_before jsonb,
  add column held_stock_before boolean,
  add column cycle_before text,
  add column duedate_before date,
  add column period_start_before date,
  add column anchor_before smallint;

-- What went back of an upgrade with the days that a period given back took from it, before tax: its price is of the days that are left.
alter table service_periods add column net_returned_minor bigint not null default 0 check (net_returned_minor >= 0);

-- A month may have two parts: up to the day on which a period began anew, and after it. Each is earned once.
alter table earnings add column from_day smallint not null default 1 check (from_day between 1 and 31);
alter table earnings drop constraint earnings_pkey, add primary key (deferral_id, month, from_day);

-- Which of a period and a change came first, also on one day. Null: written before this; then their days tell.
alter table service_periods add column written_at timestamptz;
