-- Deliveries that failed and whose money was given back need nobody any more.
update jobs j set state = 'done' from services s
where j.name = 'vps.provision' and j.state = 'failed' and s.id = (j.payload->>'serviceId')::bigint
  and s.status = 'cancelled';
