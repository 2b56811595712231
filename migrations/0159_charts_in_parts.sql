-- Points of charts: one row a machine, resolution and interval, as vps_samples has them. Each resolution stands in four parts, used one
-- after the other; `part` is the run of half the time that a resolution is kept, modulo four. What is kept no longer is emptied a part at
-- once, which leaves no holes behind as deleting rows does.
create table vps_charts (
  service_id bigint not null,
  organization_id bigint not null,
  time timestamptz not null,
  mem bigint not null,
  maxmem bigint not null,
  interval_s integer not null,
  cpu real not null,
  disk_read real not null,
  disk_write real not null,
  netin real not null,
  netout real not null,
  part smallint not null,
  primary key (service_id, time, interval_s, part)
) partition by list (interval_s);
create index vps_charts_time on vps_charts (time);

do $$
declare
  period record;
begin
  for period in
    select * from (values ('hour', 10), ('day', 300), ('week', 1800), ('month', 7200), ('year', 86400)) periods (name, interval_s)
  loop
    execute format('create table vps_charts_%s partition of vps_charts for values in (%s) partition by list (part)',
      period.name, period.interval_s);
    for nth in 0..3 loop
      execute format('create table vps_charts_%s_%s partition of vps_charts_%s for values in (%s)',
        period.name, nth, period.name, nth);
    end loop;
  end loop;
end $$;

-- The application may change rows and no tables: this empties a part for it, and nothing else.
create function empty_vps_charts(part text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if part !~ '^vps_charts_(hour|day|week|month|year)_[0-3]$' then
    raise exception '% is no part of the charts', part;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('truncate %I', part);
end $$;

revoke execute on function empty_vps_charts(text) from public;

-- What stands in vps_samples moves over while the product runs, since that takes long where there are many machines, and processes of the
-- version before go on writing there (vps/moveSamples.ts). The table goes with a later version.
