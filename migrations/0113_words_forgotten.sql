-- What staff wrote may name somebody, too: lines by hand, what a correction or a refund was for, what credit was given for. It is
-- forgotten with the buyer, once the law wants the books of a closed organization kept no longer, and so are the names of hosts
-- on lines: what is left says what was sold, for how much, and which document corrects which.

-- As it was, and `reason`.
create or replace function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at', 'tax_proof', 'tax_awaits', 'tax_corrected_minor', 'undone_services',
    'undone_credited_minor'];
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

-- As it was, but for what a line is called while its buyer is forgotten.
create or replace function refuse_change_of_issued_items() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('innkeeper.forgetting', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
    and to_jsonb(new) - 'description' = to_jsonb(old) - 'description'
    and exists (select 1 from organizations where id = old.organization_id and status = 'closed') then
    return new;
  end if;
  if exists (select 1 from invoices where number is not null
             and (tg_op <> 'INSERT' and id = old.invoice_id or tg_op <> 'DELETE' and id = new.invoice_id)) then
    raise exception 'the lines of an invoice that has a number stay as they are';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end $$;

-- As it was, but for what a transaction of the ledger is called while its organization is forgotten.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'journal' and tg_op = 'UPDATE' and current_setting('innkeeper.forgetting', true) = 'on'
    and to_jsonb(new) - array['data', 'ip'] = to_jsonb(old) - array['data', 'ip']
    -- As JSON: other tables, which have no such columns, use this function, too.
    and (to_jsonb(old) -> 'data') @> (to_jsonb(new) -> 'data')
    and coalesce(to_jsonb(new) ->> 'ip', to_jsonb(old) ->> 'ip') is not distinct from (to_jsonb(old) ->> 'ip') then
    return new;
  end if;
  if tg_table_name = 'ledger_transactions' and tg_op = 'UPDATE'
    and current_setting('innkeeper.forgetting', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
    and to_jsonb(new) - 'description' = to_jsonb(old) - 'description'
    and exists (select 1 from organizations
      where id = (to_jsonb(old) ->> 'organization_id')::bigint and status = 'closed') then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;

-- As it was, and the words. What changes is counted together; whoever gets `most` or more calls again.
create or replace function forget_in_books(of_organization bigint, at timestamptz, most int) returns int
language plpgsql security definer as $$
declare
  -- What is said of them is made of what staff wrote, or of what stood at the bank.
  in_words constant text[] := array['credit_granted', 'transfer_credited', 'transfer_taken_back'];
  changed int;
  more int;
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
  update invoices i set buyer = f.nobody, note = null, reason = null, tax_proof = null
  from (
    select f.* from found f join invoices k on k.id = f.id
    where k.buyer is distinct from f.nobody or k.note is not null or k.reason is not null or k.tax_proof is not null
    order by k.id limit most
  ) f
  where i.id = f.id;
  get diagnostics changed = row_count;
  update invoice_items l set description = f.plain
  from (
    select * from (
      select k.invoice_id, k.ordinal, k.description,
        case when k.product_id is not null then coalesce((select name from products where id = k.product_id), 'Product ' || k.product_id)
          when 'manual' in (i.kind, c.kind) then 'Line ' || k.ordinal
          else k.description end as plain
      from invoices i join invoice_items k on k.invoice_id = i.id left join invoices c on c.id = i.corrects
      where i.organization_id = of_organization
    ) said where description <> plain
    order by invoice_id, ordinal limit most
  ) f
  where l.invoice_id = f.invoice_id and l.ordinal = f.ordinal;
  get diagnostics more = row_count;
  changed := changed + more;
  update ledger_transactions t set description = replace(f.kind, '_', ' ')
  from (
    select id, kind from ledger_transactions
    where organization_id = of_organization and kind = any (in_words) and description <> replace(kind, '_', ' ')
    order by id limit most
  ) f
  where t.id = f.id;
  get diagnostics more = row_count;
  changed := changed + more;
  update journal set data = data - array['tax_id', 'reason', 'description', 'items', 'reference']
    where organization_id = of_organization and data ?| array['tax_id', 'reason', 'description', 'items', 'reference'];
  perform set_config('innkeeper.forgetting', 'off', true);
  return changed;
end $$;

do $$ begin
  execute format('alter function forget_in_books(bigint, timestamptz, int) set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;

-- Those whose books were forgotten before are looked at again, for what was left then.
delete from forgotten_books;
