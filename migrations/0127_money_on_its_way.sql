-- Money on its way spares a service once: so it has to be known of what failed whether it had been.
alter table charges add column pending_at timestamptz;
update charges set pending_at = created_at where state = 'pending';
create index charges_came_back on charges (invoice_id) where state = 'failed' and pending_at is not null;
