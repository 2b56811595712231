-- The calendar: what becomes of a service whose paid time is near its end.

alter table services
  -- Due date that the calendar has taken up; another one is taken up when it is near.
  add column calendar_on date;
create index services_to_take_up on services (duedate, id)
  where status in ('active', 'suspended') and duedate is not null and calendar_on is distinct from duedate;
create index services_due on services (duedate, id) where status in ('active', 'suspended');

-- How far the calendar is with a service; a row lasts until it is paid, or has ended.
create table service_calendar (
  service_id bigint primary key references services,
  organization_id bigint not null,
  -- End of the time that is paid.
  due_on date not null,
  -- Begun anew when staff lets a service run again that is not paid.
  round integer not null default 1,
  invoice_id bigint references invoices,
  -- What was done last.
  step text,
  -- The last step that told the customer something, by which entry of the journal, and when that was sent.
  warned_step text,
  warning_id bigint,
  warned_on date,
  -- Nothing is to be done before.
  look_on date not null,
  -- Why it cannot go on.
  problem text,
  problem_since timestamptz
);
create index service_calendar_look on service_calendar (look_on, service_id);
create index service_calendar_problems on service_calendar (problem_since desc, service_id desc) where problem is not null;

-- Each step of the calendar, once for a service, its period and the round.
create table service_calendar_steps (
  service_id bigint not null references services,
  organization_id bigint not null,
  due_on date not null,
  round integer not null,
  step text not null,
  invoice_id bigint,
  done_at timestamptz not null,
  primary key (service_id, due_on, round, step)
);

-- Who said when the money comes: until then the calendar goes no further. Without a service for all of an organization.
create table payment_promises (
  organization_id bigint not null references organizations,
  service_id bigint references services,
  until date not null,
  note text,
  user_id bigint,
  promised_at timestamptz not null,
  constraint payment_promises_one unique nulls not distinct (organization_id, service_id)
);

-- What a service that runs has to pay stays open until the service ends.
drop index invoices_expiring;
create index invoices_expiring on invoices (expires_at) where status = 'unpaid' and kind <> 'renewal' and kind <> 'late_fee';
