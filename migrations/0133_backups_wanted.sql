-- Since when nightly backups of a machine are wanted: without it nobody could say that there should be one by now.
-- A version before this one writes none, and then it is since the machine was made.
alter table machines add column backup_wanted_at timestamptz;
update machines set backup_wanted_at = now() where backup_enabled;
