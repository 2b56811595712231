-- A job that was held after a restore is never taken back by itself: what it finds may have been made since the backup.
alter table jobs add column held_at timestamptz;
