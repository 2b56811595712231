-- The books by the month, for the bookkeeper: which postings a month holds is said once, when it is closed.

create table ledger_periods (
  month date primary key check (extract(day from month) = 1),
  state text not null check (state in ('closing', 'closed')),
  -- The last posting that was looked at, and how many the month holds by now.
  reached bigint not null,
  transactions bigint not null default 0,
  closed_at timestamptz,
  check ((state = 'closed') = (closed_at is not null))
);

create table ledger_period_transactions (
  month date not null references ledger_periods,
  transaction_id bigint not null references ledger_transactions,
  primary key (month, transaction_id),
  constraint ledger_period_transactions_once unique (transaction_id)
);
create trigger ledger_period_transactions_append_only before update or delete on ledger_period_transactions
  for each row execute function refuse_change();
create trigger ledger_period_transactions_no_truncate before truncate on ledger_period_transactions
  for each statement execute function refuse_change();

-- What a closed month moved on each account, by what happened.
create table ledger_period_sums (
  month date not null references ledger_periods,
  kind text not null,
  account text not null,
  currency text not null,
  debit_minor numeric not null check (debit_minor >= 0),
  credit_minor numeric not null check (credit_minor >= 0),
  primary key (month, kind, account, currency)
);
create trigger ledger_period_sums_append_only before update or delete on ledger_period_sums
  for each row execute function refuse_change();
create trigger ledger_period_sums_no_truncate before truncate on ledger_period_sums
  for each statement execute function refuse_change();

-- What services bring a month, and each change of that: what figures of recurring revenue are made of.
create table recurring_revenue (
  service_id bigint primary key references services,
  organization_id bigint not null,
  currency text not null,
  -- A month of it; 0 once the service has ended.
  minor bigint not null check (minor >= 0),
  changed_on date not null
);

create table recurring_changes (
  id bigint generated always as identity primary key,
  service_id bigint not null references services,
  organization_id bigint not null,
  currency text not null,
  counts_on date not null,
  kind text not null check (kind in ('new', 'expanded', 'contracted', 'lost')),
  minor bigint not null check (minor > 0)
);
create index recurring_changes_days on recurring_changes (currency, counts_on, kind) include (minor);
create trigger recurring_changes_append_only before update or delete on recurring_changes
  for each row execute function refuse_change();
create trigger recurring_changes_no_truncate before truncate on recurring_changes
  for each statement execute function refuse_change();

-- Of what was before, the beginning and the end are known; in between as if it had always been what it is today.
create temporary table recurring_before on commit drop as
select s.id, s.organization_id, s.currency,
  (s.price_minor * 2 + c.months) / (2 * c.months) as minor,
  least(coalesce((select min(p.starts_on) from service_periods p where p.service_id = s.id), s.period_start, s.created_at::date),
    coalesce(s.terminated_at::date, 'infinity')) as began_on,
  case when s.status = 'terminated' then coalesce(s.terminated_at::date, s.duedate, s.created_at::date) end as ended_on
from services s join (values ('monthly', 1), ('quarterly', 3), ('semiannually', 6), ('annually', 12), ('biennially', 24),
  ('triennially', 36)) as c(cycle, months) on c.cycle = s.cycle
where s.status in ('active', 'suspended', 'terminated') and s.duedate is not null;

insert into recurring_revenue (service_id, organization_id, currency, minor, changed_on)
select id, organization_id, currency, case when ended_on is null then minor else 0 end, coalesce(ended_on, began_on)
from recurring_before where minor > 0;
insert into recurring_changes (service_id, organization_id, currency, counts_on, kind, minor)
select id, organization_id, currency, began_on, 'new', minor from recurring_before where minor > 0
union all
select id, organization_id, currency, greatest(ended_on, began_on), 'lost', minor from recurring_before
where minor > 0 and ended_on is not null;
