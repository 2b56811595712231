-- outside a transaction
-- What somebody did, whichever organization it was in, for the export of their account.
create index concurrently if not exists journal_person on journal (user_id, id);
