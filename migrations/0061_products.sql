-- What staff changes of products: where they stand in lists, and options that are not sold any more.

-- Lower ones first; what has the same one stands by its id.
alter table product_groups add column position integer not null default 1 check (position between 0 and 999999);
alter table products
  add column position integer not null default 1 check (position between 0 and 999999),
  -- Of the group and then of the product: the order in which customers see them.
  add column place bigint not null default 0;
update product_groups set position = least(id, 999999);
update products set position = least(id, 999999);
update products p set place = g.position::bigint * 1000000 + p.position from product_groups g where g.id = p.group_id;
create index products_place on products (place, id);
create index products_status_place on products (status, place, id);

-- Nobody orders with it any more; what was bought with it keeps it.
alter table product_options add column retired boolean not null default false;
