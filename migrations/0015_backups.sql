-- What a restore brings back besides the disk; null in rows from before: the machine keeps the image that it has.
alter table vps_snapshots add column image text;

-- When the nightly backup could not even be begun; the machine's turn comes again an hour later.
alter table machines add column backup_tried_at timestamptz;
