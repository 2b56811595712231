-- Staff's lists that went through more than they show, at hundreds of thousands of rows: the orders of one organization, orders
-- by what came of their review, and a search for services of one status.
create index invoices_orders_of on invoices (organization_id, created_at, id) where kind = 'order';

alter table order_reviews
  -- When it was ordered, as its invoice says: what its list goes by.
  add column ordered_at timestamptz;
update order_reviews r set ordered_at = coalesce((select i.created_at from invoices i where i.id = r.invoice_id), r.held_at);
alter table order_reviews alter column ordered_at set not null;
create index order_reviews_status on order_reviews (status, ordered_at, invoice_id);
create index order_reviews_of on order_reviews (organization_id, status, ordered_at, invoice_id);

create index services_status_any_name on services (status, (lower(domain) collate "C"), id);
create index services_status_any_parent_name on services
  (status, (lower(substr(domain, nullif(strpos(domain, '.'), 0) + 1)) collate "C"), id);

-- What is searched for comes in small letters, and numbers have capital ones.
drop index invoices_number_text;
drop index invoices_status_number;
create index invoices_number_text on invoices ((lower(number) collate "C"), id);
create index invoices_status_number on invoices (status, (lower(number) collate "C"), id);
