-- How traffic of servers is billed beyond what their price includes.
alter table products add column traffic jsonb check (traffic ->> 'billing' in ('total', 'percentile95'));
-- Cancelled by staff, who gave up what it asked for: what else stood on it but the period of a service is not asked for again.
alter table invoices add column waived boolean not null default false;

-- As it was, and `waived`.
create or replace function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at', 'tax_proof', 'tax_awaits', 'tax_corrected_minor', 'undone_services',
    'undone_credited_minor', 'waived'];
  of_buyer constant text[] := array['buyer', 'note', 'reason', 'tax_proof'];
begin
  if tg_op = 'UPDATE' and current_setting('innkeeper.forgetting', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
    and to_jsonb(new) - of_buyer = to_jsonb(old) - of_buyer
    and exists (select 1 from organizations where id = old.organization_id and status = 'closed') then
    return new;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - passing <> to_jsonb(old) - passing then
    raise exception 'invoice % has the number % and stays as it is; a credit note corrects it', old.id, old.number;
  end if;
  return new;
end $$;
-- It reads the tables of this schema, whatever others are in its caller's path.
do $$ begin
  execute format('alter function %I.refuse_change_of_issued() set search_path = pg_catalog, %I, pg_temp', current_schema(), current_schema());
end $$;

-- With what a service was sold; those of before were sold with none.
alter table services add column traffic jsonb;

-- What a calendar month (UTC) of a service came to, written once it is over, or with the end of the service.
create table service_traffic (
  service_id bigint not null references services,
  organization_id bigint not null references organizations,
  month date not null,
  currency text not null,
  -- The terms that counted.
  terms jsonb not null,
  -- Bytes of both directions; of the 95th percentile the bytes of its five minutes.
  used_bytes bigint not null,
  -- Thousandths of a TB or Mbit/s beyond what is included.
  over_thousandths bigint not null,
  amount_minor bigint not null,
  settled_at timestamptz not null,
  -- On which invoice it stands; null: on none. Of one that was cancelled and not waived it goes to the next; so it does, and is null again, where a
  -- bank took the money back.
  invoice_id bigint references invoices,
  primary key (service_id, month)
);
create index service_traffic_invoice on service_traffic (invoice_id) where invoice_id is not null;
create index service_traffic_organization on service_traffic (organization_id);

-- How far services were gone through of which their customers may have to be told: the one looked at last; 0 begins anew.
create table service_traffic_turn (last_id bigint not null);
insert into service_traffic_turn (last_id) values (0);

-- Since when nothing is to be settled of a month: it was, or nothing of it is billed. Those that are over are looked for every ten minutes.
alter table server_traffic_months add column settled_at timestamptz;
create index server_traffic_months_unsettled on server_traffic_months (month, service_id) where settled_at is null;

-- Which parts of what is included customers were told to have used, each once a month.
create table service_traffic_notices (
  service_id bigint not null references services,
  organization_id bigint not null references organizations,
  month date not null,
  percent integer not null,
  told_at timestamptz not null,
  primary key (service_id, month, percent)
);
