-- Images that are downloaded are the disks of machines; those that staff says so of servers as well, on one disk.
alter table images add column for_servers boolean not null default false;
-- What an installation downloads, where it installs no tree: slug, address and checksum, whatever becomes of the image.
alter table server_assignments
  add column disk_image jsonb,
  add constraint server_assignments_system check (tree is null or disk_image is null);
