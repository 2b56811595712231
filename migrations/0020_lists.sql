-- Lists that stay as fast as they are when the organization has a hundred thousand services: a filter and a search are
-- each one range of an index. What is searched for are beginnings: of the whole name, and of what follows its first
-- label. The order is that of bytes, so that a beginning is a range.
create index services_product on services (organization_id, product_id, position desc);
create index services_name on services (organization_id, (lower(domain) collate "C"), position);
create index services_parent_name on services
  (organization_id, (lower(substr(domain, nullif(strpos(domain, '.'), 0) + 1)) collate "C"), position);

-- The mails to one address, newest first.
create index mails_recipient on mails (recipient, created_at desc, id desc);
