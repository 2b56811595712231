-- What was begun before it was noted when a server is given its plan, and reported a step, was given one.
update server_assignments set given_at = coalesce(heard_at, ended_at)
where given_at is null and kind in ('install', 'wipe') and state in ('failed', 'cancelled') and (step is not null or erasures <> '{}');
-- 0212 found for whom something was written by wipes alone: neither what was set aside after an installation, nor for whom that was where another service had the server before.
-- Whoever held it last is whom it was written for.
update servers s set unwiped_service_id = h.service_id
from servers a cross join lateral (
  select (j.data ->> 'service_id')::bigint as service_id from journal j
  where j.subject_type = 'server' and j.subject_id = a.id and j.action = 'server.held' order by j.id desc limit 1) h
where a.id = s.id and s.state in ('waiting', 'quarantined', 'broken', 'retired') and s.unwiped_service_id is distinct from h.service_id
  and exists (select from services v where v.id = h.service_id)
  and (select not (g.kind = 'wipe' and g.state = 'done') from server_assignments g
       where g.server_id = s.id and g.kind in ('install', 'wipe') and (g.given_at is not null or g.state = 'done')
       order by g.id desc limit 1);
-- And who has had it since it was wiped, of which 0213 knew what 0212 had found alone. What is on its way back from a service was that service's.
update servers s set tenant_service_id = s.unwiped_service_id
where s.state in ('waiting', 'quarantined', 'broken', 'retired') and s.unwiped_service_id is not null
  and s.tenant_service_id is distinct from s.unwiped_service_id and exists (
    select from server_assignments g where g.server_id = s.id and g.kind = 'install' and g.state = 'done'
      and not exists (select from server_assignments w where w.server_id = s.id and w.kind = 'wipe' and w.state = 'done' and w.id > g.id));
update servers set tenant_service_id = service_id
where state = 'returning' and service_id is not null and tenant_service_id is null;
