-- Up to which entry the journal was cleared: who has seen less than that has missed what nobody can tell any more.
create table journal_horizon (
  removed_through bigint not null default 0,
  only_row boolean primary key default true check (only_row)
);
insert into journal_horizon default values;
