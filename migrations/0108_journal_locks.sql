-- What takes from the journal runs as the owner of the tables. It finds them where they are and nowhere else: where `pg_temp` is
-- not named it comes first, and whoever calls may put tables of their own there, with triggers. Who may call it is granted with
-- the tables; it forgets an address only while it is on record as the closed account's.
create or replace function forget_in_journal(of_user bigint, address text, most int) returns int
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  theirs text[] := array['invited_by', 'organization_name', 'user_agent', 'name', 'fingerprint', 'ssh_keys', 'ip_allowlist'];
  organizations bigint[];
  changed int;
begin
  if not exists (select 1 from users where id = of_user and status = 'closed') then
    raise exception 'account % is not closed', of_user;
  end if;
  if not exists (select 1 from email_changes
    where user_id = of_user and state = 'closed' and lower(old_email) = lower(address)) then
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
    select id, array['email'] as fields, false as is_own from journal
    where data ? 'email' and lower(data ->> 'email') = lower(address)
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
revoke execute on function forget_in_journal(bigint, text, int) from public;

-- An entry only loses something: nothing is put into it, also while it is forgotten whom it is about.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'journal' and tg_op = 'UPDATE' and current_setting('innkeeper.forgetting', true) = 'on'
    and to_jsonb(new) - array['data', 'ip'] = to_jsonb(old) - array['data', 'ip']
    -- As JSON: other tables, which have no such columns, use this function, too.
    and (to_jsonb(old) -> 'data') @> (to_jsonb(new) -> 'data')
    and coalesce(to_jsonb(new) ->> 'ip', to_jsonb(old) ->> 'ip') is not distinct from (to_jsonb(old) ->> 'ip') then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;

-- The shortest time for which a journal is kept is 90 days; no role takes away what is younger. A day is for clocks that differ.
create or replace function refuse_removal() returns trigger language plpgsql as $$
begin
  if current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    raise exception '% is append-only', tg_table_name;
  end if;
  if old.created_at > now() - interval '89 days' then
    raise exception '% keeps what is younger than 90 days', tg_table_name;
  end if;
  return old;
end $$;
