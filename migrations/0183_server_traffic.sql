-- What went through the ports of servers that are rented, as their services received and sent it.

-- Which service had the server behind a port when it was read last: what came since then is counted where it still does.
alter table switch_ports add column service_id bigint;

-- One row a service, resolution and interval. Each resolution stands in four parts, used one after the other; `part` is the run of half the
-- time that a resolution is kept, modulo four. What is kept no longer is emptied a part at once, as in vps_charts.
create table server_traffic (
  service_id bigint not null,
  organization_id bigint not null,
  time timestamptz not null,
  received_bytes bigint not null,
  sent_bytes bigint not null,
  interval_s integer not null,
  part smallint not null,
  primary key (service_id, time, interval_s, part)
) partition by list (interval_s);

do $$
declare
  resolution record;
begin
  for resolution in select * from (values ('minutes', 300), ('hours', 3600), ('days', 86400)) resolutions (name, interval_s)
  loop
    execute format('create table server_traffic_%s partition of server_traffic for values in (%s) partition by list (part)',
      resolution.name, resolution.interval_s);
    for nth in 0..3 loop
      -- A row is written again as long as its interval lasts.
      execute format('create table server_traffic_%s_%s partition of server_traffic_%s for values in (%s) with (fillfactor = 80)',
        resolution.name, nth, resolution.name, nth);
    end loop;
  end loop;
end $$;

-- The application may change rows and no tables: this empties a part for it, and nothing else.
create function empty_server_traffic(part text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if part !~ '^server_traffic_(minutes|hours|days)_[0-3]$' then
    raise exception '% is no part of the traffic of servers', part;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('truncate %I', part);
end $$;

revoke execute on function empty_server_traffic(text) from public;

-- All of a calendar month (UTC), as long as the service is known: what is kept of its single intervals goes, and what was billed by it stays.
create table server_traffic_months (
  service_id bigint not null,
  organization_id bigint not null,
  month date not null,
  received_bytes bigint not null,
  sent_bytes bigint not null,
  primary key (service_id, month)
);
