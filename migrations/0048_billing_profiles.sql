-- Who an organization's invoices are made out to: the source of its address and tax id. An organization without a row
-- has said nothing yet, but maybe the country when it was founded.

create table billing_profiles (
  organization_id bigint primary key references organizations,
  kind text not null check (kind in ('company', 'person')),
  -- Buys for no trade of its own: taxed where it lives, with the rights of consumers.
  consumer boolean not null,
  -- Null: the organization's own name.
  name text,
  address_line1 text,
  address_line2 text,
  postal_code text,
  city text,
  region text,
  country text check (country ~ '^[A-Z]{2}$'),
  -- Where a consumer says to live, as evidence for the tax.
  declared_country text check (declared_country ~ '^[A-Z]{2}$'),
  -- A VAT id within the European Union; elsewhere what the tax office calls it by.
  tax_id text,
  language text check (language ~ '^[a-z]{2}$'),
  email text,
  -- What public buyers are found by, and their own number of the order.
  routing_id text,
  order_number text,
  updated_at timestamptz not null,
  check (not (consumer and kind = 'company')),
  check (not consumer or tax_id is null)
);

insert into billing_profiles (organization_id, kind, consumer, address_line1, country, tax_id, updated_at)
select id, 'company', false, billing_address, country, tax_id, created_at
from organizations where tax_id is not null or billing_address is not null;

alter table organizations
  drop column tax_id,
  drop column billing_address;
