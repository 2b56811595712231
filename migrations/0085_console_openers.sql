-- A console ends with what it was opened with: a ticket says which session that was, and from where.
alter table console_tickets add column session_id bigint, add column ip inet;
