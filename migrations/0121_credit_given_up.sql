-- What is left of its credit when an organization is closed is given up in the books, too: what lies there afterwards came later.
alter table ledger_accounts
  drop constraint ledger_accounts_kind_check,
  drop constraint ledger_accounts_whose,
  add constraint ledger_accounts_kind_check check (kind in ('bank', 'provider', 'receivable', 'disputes', 'credit', 'given_up',
    'parts', 'deferred', 'tax', 'revenue', 'goodwill', 'fees', 'losses')),
  add constraint ledger_accounts_whose
    check ((kind in ('receivable', 'credit', 'given_up')) = (organization_id is not null));

-- Of those that are closed by now, what is left of what they had on that day. What came later is counted invoice by invoice, less
-- what of it went back, as are transfers: money of before that went back is no money of those who paid later.
create temporary table given_up on commit drop as
select a.id as account_id, a.organization_id, a.currency, o.status_since, e.sequence,
  e.balance_minor - least(e.balance_minor, coalesce(late.minor, 0)) as minor, e.balance_minor,
  null::bigint as transaction_id
from organizations o join ledger_accounts a on a.organization_id = o.id and a.kind = 'credit'
cross join lateral (
  select n.sequence, n.balance_minor from ledger_entries n where n.account_id = a.id order by n.sequence desc limit 1) e
cross join lateral (
  select sum(greatest(0, one.minor)) as minor from (
    select -sum(n.amount_minor) as minor from ledger_entries n join ledger_transactions t on t.id = n.transaction_id
    where n.account_id = a.id and t.created_at > o.status_since and (n.amount_minor < 0 or t.invoice_id is not null
      or exists (select from transfers r where r.organization_id = o.id and r.created_at > o.status_since
        and starts_with(t.description, 'Bank transfer ' || r.reference || ', booked by mistake')))
    group by t.invoice_id) one) late
where o.status = 'closed';
delete from given_up where minor = 0;

insert into ledger_accounts (organization_id, kind, currency)
select organization_id, 'given_up', currency from given_up;
update given_up set transaction_id = nextval(pg_get_serial_sequence('ledger_transactions', 'id'));
insert into ledger_transactions (id, organization_id, kind, description, created_at) overriding system value
select transaction_id, organization_id, 'credit_given_up', 'Given up with the account', status_since from given_up;
insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor, sequence, balance_minor)
select transaction_id, account_id, organization_id, minor, sequence + 1, balance_minor - minor from given_up
union all
select g.transaction_id, a.id, g.organization_id, -g.minor, null, null
from given_up g join ledger_accounts a
  on a.organization_id = g.organization_id and a.kind = 'given_up' and a.currency = g.currency;

-- For how long the books name somebody does not depend on when the account was closed: giving up is no movement of money.
create or replace function books_kept_until(of_organization bigint) returns timestamptz
language sql stable as $$
  select (date_trunc('year', coalesce(greatest(
      (select max(issued_at) from invoices where organization_id = o.id and issued_at is not null),
      (select created_at from ledger_transactions where organization_id = o.id and kind <> 'credit_given_up'
        order by id desc limit 1)),
      o.status_since, o.created_at) at time zone 'UTC')
    + make_interval(years => 1 + greatest(5, coalesce(
        (select (fields ->> 'years_kept')::int from settings where section = 'bookkeeping'), 10)))) at time zone 'UTC'
  from organizations o where o.id = of_organization
$$;
do $$ begin
  execute format('alter function books_kept_until(bigint) set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
