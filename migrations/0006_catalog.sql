-- What is for sale. Amounts are integers in the currency's minor unit (cents).

create table product_groups (
  id bigint generated always as identity primary key,
  name text not null unique
);

create table products (
  id bigint generated always as identity primary key,
  type text not null check (type in ('Hosting', 'Domain')),
  -- What delivers it: 1 staff by hand, 2 VPS, 3 web hosting, 4 domain, 5 dedicated server.
  module_id integer not null check (module_id between 1 and 5),
  group_id bigint not null references product_groups,
  name text not null,
  description text not null default '',
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Null: as many as are asked for.
  stock integer check (stock >= 0),
  status text not null default 'active' check (status in ('active', 'hidden', 'retired')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table product_prices (
  product_id bigint not null references products,
  cycle text not null check (cycle in ('monthly', 'quarterly', 'semiannually', 'annually', 'biennially', 'triennially')),
  price_minor bigint not null check (price_minor >= 0),
  setup_fee_minor bigint not null default 0 check (setup_fee_minor >= 0),
  primary key (product_id, cycle)
);

create table product_options (
  product_id bigint not null references products,
  key text not null check (key ~ '^option[1-8]$'),
  name text not null,
  label text not null,
  kind text not null check (kind in ('integer', 'choice')),
  min integer,
  max integer,
  step integer,
  -- [{"value","label","price_minor"}], for choices.
  choices jsonb,
  -- A month's price of each unit above min, for integers.
  unit_price_minor bigint not null default 0 check (unit_price_minor >= 0),
  required boolean not null default true,
  primary key (product_id, key),
  check ((kind = 'integer') = (min is not null and max is not null and step is not null)),
  check ((kind = 'choice') = (choices is not null)),
  check (min <= max and step > 0)
);

create table coupons (
  id bigint generated always as identity primary key,
  code text not null,
  -- One of the two.
  percent integer check (percent between 1 and 100),
  amount_minor bigint check (amount_minor > 0),
  currency text,
  -- Null: no limit.
  max_uses integer check (max_uses >= 0),
  uses integer not null default 0 check (uses >= 0),
  -- Null: every product.
  product_ids bigint[],
  starts_at timestamptz,
  expires_at timestamptz,
  active boolean not null default true,
  created_at timestamptz not null,
  check ((percent is null) <> (amount_minor is null)),
  check ((amount_minor is null) = (currency is null)),
  constraint coupons_uses check (max_uses is null or uses <= max_uses)
);
create unique index coupons_code on coupons (lower(code));
