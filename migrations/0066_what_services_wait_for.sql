-- What a service waits for, as its customer sees it, and why one has ended.

alter table services
  -- Since when its delivery is under way, or has failed; null before.
  add column delivery_since timestamptz,
  -- Why it was cancelled or terminated, in words for its customer.
  add column end_reason text;

update services s set delivery_since = coalesce((
  select max(j.created_at) from journal j where j.subject_type = 'service' and j.subject_id = s.id
    and j.action in ('service.delivery_wanted', 'service.staff_delivery_wanted')), s.created_at)
where s.status = 'pending' and s.provisioning_state in ('running', 'failed');

update services s set end_reason = (
  select j.data->>'reason' from journal j where j.subject_type = 'service' and j.subject_id = s.id
    and j.action in ('service.cancelled', 'service.terminated') order by j.id desc limit 1)
where s.status in ('cancelled', 'terminated');
