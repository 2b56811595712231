-- The journal's first number after a restore. What was read before it may have been of entries that are gone.
alter table restores add column journal_from bigint;
