-- What servers of a profile are sold as: their number is the stock of that product.
alter table server_profiles add column product_id bigint references products;
create index server_profiles_product on server_profiles (product_id) where product_id is not null;

-- Who holds or has it. An order holds its server before its service is written.
alter table servers
  add column service_id bigint constraint servers_service unique,
  add constraint servers_of_service check (service_id is null or state in ('held', 'rented', 'returning'));

-- It is delivered on a server out of the rack, and by nobody's hand.
alter table services add column on_server boolean not null default false;
