-- A disk that staff recorded is what the one was whose place it took, until it is measured; null: nobody knows.
alter table server_disks
  add column kind text check (kind in ('nvme', 'ssd', 'hdd')),
  add column bytes bigint;

-- The disks that a start says it has, as its installer measured them.
alter table server_starts add column measured jsonb;
