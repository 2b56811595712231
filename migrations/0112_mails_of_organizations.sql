-- outside a transaction
-- The mails that an organization got at addresses of its own, for when it is forgotten.
create index concurrently if not exists mails_organization on mails (organization_id) where user_id is null;
