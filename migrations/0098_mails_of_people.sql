-- outside a transaction
-- The mails that somebody got, for the export of their account and when it is closed.
create index concurrently if not exists mails_person on mails (user_id) where user_id is not null;
