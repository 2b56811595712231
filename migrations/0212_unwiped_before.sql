-- Servers that were set aside with something on their disks before that was written down. What was installed for nobody's service is not found by it.
update servers s set unwiped_service_id = w.service_id
from (select distinct on (server_id) server_id, service_id from server_assignments
      where kind = 'wipe' and service_id is not null order by server_id, id desc) w
where w.server_id = s.id and s.unwiped_service_id is null and s.state in ('waiting', 'quarantined', 'broken', 'retired')
  and (select not (g.kind = 'wipe' and g.state = 'done') from server_assignments g
       where g.server_id = s.id and g.kind in ('install', 'wipe') and (g.given_at is not null or g.state = 'done')
       order by g.id desc limit 1);
