-- Whoever pays with credit is asked what of it a bank may take.
create index disputes_held on disputes (organization_id) where state = 'open';
