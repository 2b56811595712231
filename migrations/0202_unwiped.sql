-- The service for which something was written to the disks of this server, which was set aside before they were wiped; null: nothing is known to be on them.
alter table servers add column unwiped_service_id bigint;
