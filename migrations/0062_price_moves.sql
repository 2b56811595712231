-- Prices of services that run follow the catalogue when staff moves them, after their customers were told.

create table price_moves (
  id bigint generated always as identity primary key,
  product_id bigint not null references products,
  -- It counts from the first renewal of each service on this day or later.
  from_on date not null,
  -- Between the notice that a customer was sent and the first day on which it counts for that one.
  notice_days integer not null check (notice_days >= 0),
  -- What a period of each cycle costs, {"monthly": 900}, and the options with their prices, as they were when it was decided.
  prices jsonb not null,
  options jsonb not null,
  user_id bigint,
  created_at timestamptz not null,
  -- Services are gathered in the order of their ids, this one was the last; and when all were.
  gathered_to bigint not null default 0,
  gathered_at timestamptz,
  revoked_at timestamptz,
  -- Nothing is left of what was revoked.
  taken_back boolean not null default false
);
create index price_moves_product on price_moves (product_id, id);
create index price_moves_to_gather on price_moves (id) where gathered_at is null and revoked_at is null;

-- What a move does to one service.
create table service_price_moves (
  move_id bigint not null references price_moves,
  service_id bigint not null references services,
  organization_id bigint not null,
  -- waiting: nobody was told; telling: a mail was written; told: it was sent; moved: the service pays the new price;
  -- ended: the service ended or became something else before; revoked: staff took it back before.
  state text not null check (state in ('waiting', 'telling', 'told', 'moved', 'ended', 'revoked')),
  -- What its units cost from then on; follows every change of its size.
  unit_prices jsonb not null,
  -- Of a period, before and after, as its customer was told.
  before_minor bigint not null check (before_minor >= 0),
  after_minor bigint not null check (after_minor >= 0),
  -- Nothing is to be done before, while it waits or is being told.
  look_at timestamptz not null,
  -- The entry of the journal that the mail tells of, and the day on which it was sent.
  notice_id bigint,
  told_on date,
  -- The first day on which a period may begin at the new price.
  counts_on date,
  -- The day on which the first one did.
  moved_on date,
  primary key (move_id, service_id),
  check ((state in ('told', 'moved')) <= (told_on is not null and counts_on is not null)),
  check ((state = 'moved') = (moved_on is not null))
);
create index price_moves_to_take_back on price_moves (id) where revoked_at is not null and not taken_back;
create index service_price_moves_open on service_price_moves (service_id, move_id)
  where state in ('waiting', 'telling', 'told');
create index service_price_moves_look on service_price_moves (state, look_at, service_id)
  where state in ('waiting', 'telling');
create index service_price_moves_state on service_price_moves (move_id, state, service_id);

-- The move that a renewal's price is of.
alter table service_renewals add column price_move_id bigint references price_moves;

create index services_of_product on services (product_id, id);
