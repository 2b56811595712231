-- The port that a server started from the network with when it was proved last, where the addresses of a service go, and what that port and the switch agreed on then, in Mbit/s; null: not known.
alter table servers
  add column start_mac macaddr,
  add column port_mbps integer check (port_mbps > 0),
  -- What its profile said of that port when an order or a move took it; null: nothing. Counts while a service holds or has it.
  add column sold_port_mbps integer check (sold_port_mbps > 0);
-- The same port of the start at which the server was given its plan last; null: it was not, or that is not known.
alter table server_assignments add column start_mac macaddr;

-- The speed that counted until now was that of the fastest port.
update servers s set start_mac = a.mac, port_mbps = p.mbps
from (select distinct on (server_id) server_id, mac from server_arrivals
      where state = 'enrolled' order by server_id, id desc) a
  left join lateral (
    select (j ->> 'speedMbps')::int as mbps from servers o, jsonb_array_elements(o.hardware -> 'ports') j
    where o.id = a.server_id and lower(j ->> 'mac') = a.mac::text limit 1) p on true
where a.server_id = s.id;
-- Whoever has a server goes on with the port that it has: no other one could take its place if more was said to have been sold.
update servers s set sold_port_mbps = case when s.state = 'held' then f.port_mbps else least(f.port_mbps, coalesce(s.port_mbps, f.port_mbps)) end
from server_profiles f
where f.id = s.profile_id and (s.service_id is not null or s.move_service_id is not null) and s.state in ('held', 'rented');
-- What has the speed of its profile at another port than that of its addresses is sold as that no more. Which profile it fits instead is found once it is measured, or a profile is changed.
update servers s set profile_id = null from server_profiles f
where f.id = s.profile_id and f.port_mbps is distinct from s.port_mbps and f.port_mbps is not null;
