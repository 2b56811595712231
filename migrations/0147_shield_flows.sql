-- Flows: packets to an address within a minute that were alike in all that rules can see, as samples show them. One row for an address
-- and a minute, packed (shield/flows/pack.ts): as rows of their own they would take five times as much. In eight parts of half an
-- hour each, which are emptied as a whole, as what came by minutes is.
create table shield_flows (
  part smallint not null,
  address inet not null,
  time timestamptz not null,
  -- Whose the address was then: what came to them is nobody else's to see.
  organization_id bigint not null,
  count integer not null,
  flows bytea not null,
  primary key (address, time, organization_id, part)
) partition by list (part);
-- Packed already.
alter table shield_flows alter column flows set storage external;

do $$
begin
  for nth in 0..7 loop
    execute format('create table shield_flows_%s partition of shield_flows for values in (%s)', nth, nth);
  end loop;
end $$;

create or replace function empty_shield_traffic(part text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if part !~ '^shield_(traffic_minutes|traffic_hours|flows)_[0-7]$' then
    raise exception '% is no part of the traffic of Shield', part;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('truncate %I', part);
end $$;
