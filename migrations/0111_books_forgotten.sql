-- What the law wants kept of an organization that was closed is forgotten once its time is over: who its documents were made out
-- to. What they amount to, their numbers and the tax on them stay for the books.

-- Organizations of which nothing is kept that says who they were.
create table forgotten_books (
  organization_id bigint primary key references organizations,
  forgotten_at timestamptz not null
);

create index bank_entries_organization on bank_entries (organization_id) where organization_id is not null;

-- Until when the books of an organization name it: so many years after the end of that in which its last document was issued,
-- or its money moved last. The years are the company's (`years_kept` of the section `bookkeeping`).
create function books_kept_until(of_organization bigint) returns timestamptz
language sql stable as $$
  select (date_trunc('year', coalesce(greatest(
      (select max(issued_at) from invoices where organization_id = o.id and issued_at is not null),
      (select created_at from ledger_transactions where organization_id = o.id order by id desc limit 1)),
      o.status_since, o.created_at) at time zone 'UTC')
    + make_interval(years => 1 + greatest(5, coalesce(
        (select (fields ->> 'years_kept')::int from settings where section = 'bookkeeping'), 10)))) at time zone 'UTC'
  from organizations o where o.id = of_organization
$$;

-- What has a number stays, but for whom it was made out to, by `forget_in_books` alone: it runs as the owner of the table.
create or replace function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at', 'tax_proof', 'tax_awaits', 'tax_corrected_minor', 'undone_services',
    'undone_credited_minor'];
  of_buyer constant text[] := array['buyer', 'note', 'tax_proof'];
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

-- Takes from at most so many invoices, and from the journal, who the buyer was, and says from how many; of an organization that is
-- not closed, or whose time is not over at that moment, from none.
create function forget_in_books(of_organization bigint, at timestamptz, most int) returns int
language plpgsql security definer as $$
declare
  changed int;
begin
  if not exists (select 1 from organizations where id = of_organization and status = 'closed') then
    raise exception 'organization % is not closed', of_organization;
  end if;
  if books_kept_until(of_organization) > at then
    raise exception 'the books of organization % are kept until %', of_organization, books_kept_until(of_organization);
  end if;
  perform set_config('innkeeper.forgetting', 'on', true);
  with found as (
    select id, case when buyer is not null then jsonb_strip_nulls(jsonb_build_object(
      'name', 'Closed organization ' || of_organization,
      'kind', buyer -> 'kind', 'country', buyer -> 'country', 'language', buyer -> 'language')) end as nobody
    from invoices where organization_id = of_organization
  )
  update invoices i set buyer = f.nobody, note = null, tax_proof = null
  from (
    select f.* from found f join invoices k on k.id = f.id
    where k.buyer is distinct from f.nobody or k.note is not null or k.tax_proof is not null
    order by k.id limit most
  ) f
  where i.id = f.id;
  get diagnostics changed = row_count;
  update journal set data = data - 'tax_id' where organization_id = of_organization and data ? 'tax_id';
  perform set_config('innkeeper.forgetting', 'off', true);
  return changed;
end $$;
revoke execute on function forget_in_books(bigint, timestamptz, int) from public;

-- They find the tables where they are, and nowhere else: a backup is tried out in a schema of its own.
do $$ begin
  execute format('alter function books_kept_until(bigint) set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function forget_in_books(bigint, timestamptz, int) set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function forget_in_journal(bigint, text, int) set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
