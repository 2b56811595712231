-- What was given away of nodes and pools, day by day: from how it grew follows when they are full.
create table fleet_days (
  kind text not null check (kind in ('node', 'pool')),
  thing_id bigint not null,
  what text not null check (what in ('memory', 'disk', 'addresses')),
  day date not null,
  taken bigint not null check (taken >= 0),
  primary key (kind, thing_id, what, day)
);
-- What is too old goes, of all of them at once.
create index fleet_days_day on fleet_days (day);
