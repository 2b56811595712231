-- A search among those of one status is a range of an index too, for each of the texts that it looks in: an index of the
-- text alone is walked through to its end where few have that status.
create index users_status_last_name on users (status, (lower(last_name) collate "C"), id);
create index users_status_name on users (status, (lower(first_name || ' ' || last_name) collate "C"), id);
create index invoices_status_number on invoices (status, (number::text collate "C"), id);
