-- How often a start of the server was proved and began with the work, since it was opened or its server came to the rescue system; and what it was at when the
-- one before broke off.
alter table server_assignments
  add column begun integer not null default 0,
  add column broke_off_at text;
update server_assignments set begun = 1 where state = 'working';
