-- Staff's lists go through all organizations, and stay as fast as they are at hundreds of thousands of rows: each order,
-- filter and search is a range of an index that ends in the id. What is searched for are beginnings, so that order is
-- that of bytes.

create index organizations_created on organizations (created_at, id);
create index organizations_name on organizations ((lower(name) collate "C"), id);

create index users_created on users (created_at, id);
create index users_status on users (status, created_at, id);
create index users_address on users ((lower(email) collate "C"), id);
create index users_status_address on users (status, (lower(email) collate "C"), id);
create index users_last_name on users ((lower(last_name) collate "C"), id);
create index users_name on users ((lower(first_name || ' ' || last_name) collate "C"), id);
create index users_staff on users (staff_role, created_at, id) where staff_role is not null;

create index invoices_created on invoices (created_at, id);
create index invoices_status_created on invoices (status, created_at, id);
create index invoices_number_text on invoices ((number::text collate "C"), id);

create index services_created on services (created_at, id);
create index services_status_created on services (status, created_at, id);
create index services_any_name on services ((lower(domain) collate "C"), id);
create index services_any_parent_name on services
  ((lower(substr(domain, nullif(strpos(domain, '.'), 0) + 1)) collate "C"), id);

create index products_status on products (status, id);
create index products_name on products ((lower(name) collate "C"), id);
create index products_status_name on products (status, (lower(name) collate "C"), id);
