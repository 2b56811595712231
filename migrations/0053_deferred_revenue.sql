-- What was paid for periods of services that are not over: earned by the calendar month, and never twice.

alter table ledger_transactions
  -- The day it counts for, where that is not the day on which it was written.
  add column counts_on date;

create table deferrals (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  invoice_id bigint not null references invoices,
  service_id bigint not null,
  currency text not null,
  amount_minor bigint not null check (amount_minor > 0),
  earned_minor bigint not null default 0 check (earned_minor >= 0),
  -- Given back before it was earned.
  returned_minor bigint not null default 0 check (returned_minor >= 0),
  -- First day, and the day after the last; null until the period is known, which for an order is its delivery.
  starts_on date,
  ends_on date,
  -- The first day that is not earned yet, and the day on which the next part is to be earned.
  earned_until date,
  earns_on date,
  constraint deferrals_once unique (invoice_id, service_id),
  constraint deferrals_sums check (earned_minor + returned_minor <= amount_minor),
  constraint deferrals_period check (num_nulls(starts_on, ends_on, earned_until) in (0, 3) and starts_on <= ends_on)
);
create index deferrals_due on deferrals (earns_on, id) where earns_on is not null;
create index deferrals_left on deferrals (service_id) where earned_minor + returned_minor < amount_minor;

-- What was earned of which month.
create table earnings (
  deferral_id bigint not null references deferrals,
  month date not null check (extract(day from month) = 1),
  organization_id bigint not null,
  transaction_id bigint not null references ledger_transactions,
  amount_minor bigint not null check (amount_minor > 0),
  primary key (deferral_id, month)
);
create trigger earnings_append_only before update or delete on earnings
  for each row execute function refuse_change();
create trigger earnings_no_truncate before truncate on earnings
  for each statement execute function refuse_change();
