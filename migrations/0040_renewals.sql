-- Renewals: the day of the month that periods count from, and what was asked for the next one.

-- The day on which the first period began: 31 January, then 28 February, then 31 March.
alter table services add column anchor_day smallint check (anchor_day between 1 and 31);
update services set anchor_day = extract(day from coalesce(period_start, duedate)) where duedate is not null;

-- An invoice for the next period of a service, and what it buys once it is paid.
create table service_renewals (
  invoice_id bigint primary key references invoices,
  organization_id bigint not null,
  service_id bigint not null references services,
  cycle text not null,
  -- Of the period that it buys, and of those after it.
  price_minor bigint not null check (price_minor >= 0),
  -- The first day of that period, and the first one after it.
  starts_on date not null,
  ends_on date not null,
  state text not null check (state in ('waiting', 'applied', 'ended')),
  created_at timestamptz not null,
  check (starts_on < ends_on)
);
-- Never two that wait, whoever asks, and no period is bought twice.
create unique index service_renewals_one on service_renewals (service_id) where state = 'waiting';
create unique index service_renewals_period on service_renewals (service_id, starts_on) where state = 'applied';
