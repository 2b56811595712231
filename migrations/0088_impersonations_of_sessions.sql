-- Staff acts as a customer for as long as the session lasts in which it began to; what runs without one ends.
alter table impersonations add column session_id bigint;
