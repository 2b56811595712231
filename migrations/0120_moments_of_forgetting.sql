-- When the time of a closed organization's books is over, the database says by its own clock: the role of the application, which named
-- the moment, could name any. What the function does is as it was.
drop function forget_in_books(bigint, timestamptz, int);

-- Takes from at most so many rows, and from the journal, who the buyer was, and says from how many; of an organization that is not
-- closed, or whose time is not over, from none. Whoever gets `most` or more calls again.
create function forget_in_books(of_organization bigint, most int) returns int
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
  if books_kept_until(of_organization) > now() then
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

revoke execute on function forget_in_books(bigint, int) from public;

-- The address of a closed account is free at once, and whoever is invited at it afterwards is somebody else, or the same person
-- anew: that stays, as the mails do that went there since. The rest is as it was.
create or replace function forget_in_journal(of_user bigint, address text, most int) returns int
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  theirs text[] := array['invited_by', 'organization_name', 'user_agent', 'name', 'fingerprint', 'ssh_keys', 'ip_allowlist'];
  organizations bigint[];
  closed_at timestamptz;
  changed int;
begin
  if not exists (select 1 from users where id = of_user and status = 'closed') then
    raise exception 'account % is not closed', of_user;
  end if;
  select max(created_at) into closed_at from email_changes
    where user_id = of_user and state = 'closed' and lower(old_email) = lower(address);
  if closed_at is null then
    raise exception 'account % is not known to have had this address', of_user;
  end if;
  select coalesce(array_agg(o.id), '{}') into organizations
    from journal j cross join lateral jsonb_array_elements_text(j.data -> 'organization_ids') named (id)
      join organizations o on o.id = named.id::bigint and o.status = 'closed'
    where j.subject_type = 'user' and j.subject_id = of_user and j.action = 'account.closed';
  perform set_config('innkeeper.forgetting', 'on', true);
  with own as (
    -- What they did, and what happened to their account. The name of an organization is the organization's.
    select id, case when subject_type in ('user', 'api_key', 'ssh_key') then theirs
      else array_remove(theirs, 'name') end as fields, true as is_own
    from journal where (user_id = of_user and actor_type <> 'staff') or (subject_type = 'user' and subject_id = of_user)
  ), invited as (
    -- And what became, after the closing, of an invitation that was sent before.
    select i.id, array['email'] as fields, false as is_own from journal i
    where i.data ? 'email' and lower(i.data ->> 'email') = lower(address) and exists (select 1 from journal f
      where f.subject_type = i.subject_type and f.subject_id = i.subject_id and f.created_at <= closed_at)
  ), ended as (
    select id, case when action = 'organization.updated' then array['change', 'before']
      when action = 'organization.created' then array['name'] else array['organization', 'url'] end as fields, false as is_own
    from journal where organization_id = any (organizations)
  ), elsewhere as (
    -- What moved between an organization that ended and one that goes on names the one that ended.
    select o.id, array['organization'] as fields, false as is_own
    from journal m join journal o on o.subject_type = m.subject_type and o.subject_id = m.subject_id and o.action = any
      (array['service.moved_in', 'service.moved_away'])
    where m.organization_id = any (organizations) and m.action in ('service.moved_in', 'service.moved_away')
      and (o.data ->> 'organization_id')::bigint = any (organizations)
  ), found as (
    select id, array_agg(distinct field) as fields, bool_or(is_own) as is_own
    from (select * from own union all select * from invited union all select * from ended union all select * from elsewhere) a
      cross join lateral unnest(a.fields) as field
    group by id
  )
  update journal j set data = j.data - f.fields,
    ip = case when f.is_own and j.user_id is not distinct from of_user then null else j.ip end
  from (
    select f.* from found f join journal k on k.id = f.id
    where k.data ?| f.fields or (f.is_own and k.user_id is not distinct from of_user and k.ip is not null)
    limit most
  ) f
  where j.id = f.id;
  get diagnostics changed = row_count;
  perform set_config('innkeeper.forgetting', 'off', true);
  return changed;
end $$;

-- They find the tables where they are, and nowhere else: a backup is tried out in a schema of its own.
do $$ begin
  execute format('alter function forget_in_books(bigint, int) set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function forget_in_journal(bigint, text, int) set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
