-- What an owner has said of an address. Null: nothing, so what its product was set to counts, or what is so of all. Nobody could tell a
-- default from a choice before, and both came to the same.
alter table shield_addresses alter column level drop not null, alter column level drop default;
alter table shield_addresses alter column mode drop not null, alter column mode drop default;
alter table shield_addresses alter column mitigation drop not null, alter column mitigation drop default;
update shield_addresses set level = nullif(level, 'medium'), mode = nullif(mode, 'monitor'),
  mitigation = nullif(mitigation, 'auto');

-- What staff has said of the addresses of a product's machines.
create table shield_products (
  product_id bigint primary key references products on delete cascade,
  level text check (level in ('off', 'low', 'medium', 'high')),
  mode text check (mode in ('monitor', 'enabled')),
  mitigation text check (mitigation in ('auto', 'permanent')),
  thresholds jsonb not null default '{}',
  updated_at timestamptz not null
);

-- What usually comes to an address.
create table shield_usual (
  address inet primary key,
  organization_id bigint not null references organizations,
  service_id bigint not null,
  hours integer not null,
  since timestamptz not null,
  pps double precision not null,
  mbps double precision not null,
  learned_at timestamptz not null
);
create index shield_usual_organization on shield_usual (organization_id);
create index shield_usual_learned on shield_usual (learned_at);
