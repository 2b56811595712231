-- How often a delivery was asked for again: what becomes of a try that was under way then does not end it.
alter table webhook_deliveries add column begun integer not null default 0;
