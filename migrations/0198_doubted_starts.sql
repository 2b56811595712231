-- Who claimed a start of a server that is in the rescue system, and was not it: `[{"remote": address or null, "at": moment}]`, of the last minutes.
alter table server_assignments add column doubts jsonb not null default '[]';
