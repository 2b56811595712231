-- What servers of a profile are sold as: their number is the stock of that product.
alter table server_profiles add column product_id bigint references products;
create index server_profiles_product on server_profiles (product_id) where product_id is not null;

-- Who holds or has it. An order holds its server before its service is written.
alter table servers
  add column service_id bigint constraint servers_service unique,
  add constraint servers_of_service check (service_id is null or state in ('held', 'rented', 'returning'));

-- It is delivered on a server out of the rack, and by nobody's hand.
alter table services add column on_server boolean not null default false;

-- What is done to servers that customers have, as their history tells it.
create table dedicated_actions (
  id bigint primary key,
  organization_id bigint not null,
  service_id bigint not null,
  server_id bigint not null references servers,
  command text not null,
  status text not null check (status in ('queued', 'running', 'success', 'error')),
  progress integer not null default 0 check (progress between 0 and 100),
  note text,
  initiator_type text not null,
  initiator_id bigint,
  initiator_ip inet,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index dedicated_actions_history on dedicated_actions (service_id, created_at desc, id desc);
-- One change at a time.
create unique index dedicated_actions_one on dedicated_actions (service_id) where status in ('queued', 'running');
create index dedicated_actions_server on dedicated_actions (server_id) where status in ('queued', 'running');
