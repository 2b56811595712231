-- Whose service a server comes back from: its customer reads how the disks were wiped when the server is somebody else's again.
alter table server_assignments add column service_id bigint;
create index server_assignments_service on server_assignments (service_id, id) where service_id is not null;
