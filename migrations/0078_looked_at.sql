-- When the calendar looked at a service last: what a clock that was ahead put off is looked at again.
alter table service_calendar add column looked_at timestamptz;
create index service_calendar_looked on service_calendar (looked_at);
