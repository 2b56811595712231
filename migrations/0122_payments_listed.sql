-- Staff lists payments: newest first, of all or of an organization. What went back is the smaller part.
create index payments_newest on payments (created_at, id);
create index payments_organization on payments (organization_id, created_at, id);
create index transfers_taken_back on transfers (id) where taken_back_at is not null;
create index charges_returned on charges (id) where returned_minor >= amount_minor;
