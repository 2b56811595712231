-- Rescue is for the next starts only; the boot order stays what it was meanwhile.

alter table machines add column rescue boolean not null default false;
update machines set rescue = true, boot = 'disk' where boot = 'rescue';
alter table machines drop constraint machines_boot_check;
alter table machines add constraint machines_boot_check check (boot in ('disk', 'network'));
