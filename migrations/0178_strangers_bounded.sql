-- Where a machine asked from what to start, so that nobody takes up the room of others, and since when its start is somebody's.
alter table server_starts
  add column remote inet,
  add column claimed_at timestamptz;
update server_starts set claimed_at = opened_at where secret_hash is not null;
create index server_starts_remote on server_starts (remote, id) where assignment_id is null;
