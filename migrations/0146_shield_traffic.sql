-- What came to each address by minutes and by hours. In eight parts each, used one after the other: what is kept no longer is
-- emptied a part at once, which leaves no holes behind as deleting rows does. `part` is the week (of hours: the 92 days) modulo eight.
create table shield_traffic_minutes (
  part smallint not null,
  address inet not null,
  time timestamptz not null,
  organization_id bigint not null,
  packets bigint not null,
  bytes bigint not null,
  -- Of them: those that rules and measures against attacks dropped.
  dropped_packets bigint not null,
  dropped_bytes bigint not null,
  primary key (address, time, part)
) partition by list (part);

create table shield_traffic_hours (
  part smallint not null,
  address inet not null,
  time timestamptz not null,
  organization_id bigint not null,
  packets bigint not null,
  bytes bigint not null,
  dropped_packets bigint not null,
  dropped_bytes bigint not null,
  primary key (address, time, part)
) partition by list (part);

do $$
begin
  for nth in 0..7 loop
    execute format('create table shield_traffic_minutes_%s partition of shield_traffic_minutes for values in (%s)', nth, nth);
    execute format('create table shield_traffic_hours_%s partition of shield_traffic_hours for values in (%s)', nth, nth);
  end loop;
end $$;

-- The application may change rows and no tables: this empties a part for it, and nothing else.
create function empty_shield_traffic(part text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if part !~ '^shield_traffic_(minutes|hours)_[0-7]$' then
    raise exception '% is no part of the traffic of Shield', part;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('truncate %I', part);
end $$;

revoke execute on function empty_shield_traffic(text) from public;
