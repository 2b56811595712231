-- Cancellations: why and since when, and which time each invoice of a service paid for, so that what goes back is a part
-- of what came in.

alter table services
  add column cancel_reason text,
  add column cancelled_at timestamptz;

create table service_periods (
  service_id bigint not null references services,
  invoice_id bigint not null references invoices,
  organization_id bigint not null,
  starts_on date not null,
  ends_on date not null,
  primary key (service_id, invoice_id),
  check (starts_on <= ends_on)
);

-- What was delivered before: the period of the order ends where the first renewal begins, or where the service is due.
insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on)
select s.id, s.invoice_id, s.organization_id, least(coalesce(s.period_start, s.created_at::date), first.ends_on), first.ends_on
from services s cross join lateral (select coalesce(min(r.starts_on), s.duedate) as ends_on
  from service_renewals r where r.service_id = s.id and r.state = 'applied') first
where s.duedate is not null;

insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on)
select service_id, invoice_id, organization_id, starts_on, ends_on from service_renewals where state = 'applied';

insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on)
select u.service_id, u.invoice_id, u.organization_id, least(u.created_at::date, s.duedate), s.duedate
from vps_upgrades u join services s on s.id = u.service_id
where u.state = 'applied' and u.invoice_id is not null and s.duedate is not null;
