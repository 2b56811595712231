-- outside a transaction
-- What was mailed for an organization lately, for a bound on what goes to addresses that are nobody's account.
create index concurrently if not exists mails_organization on mails (organization_id, created_at) where organization_id is not null;
