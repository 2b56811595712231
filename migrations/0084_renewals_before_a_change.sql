-- Periods that were renewed before a change of product began them anew are no part of the paid time: the next period may
-- begin on the day on which one of them did.
update service_renewals r set state = 'ended'
where r.state = 'applied' and exists (
  select 1 from service_changes c
  where c.service_id = r.service_id and c.state = 'applied' and c.starts_on is not null and c.created_at > r.created_at
);
