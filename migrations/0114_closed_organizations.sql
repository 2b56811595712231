-- Looked at for money that came since, and for books that are kept no longer.
create index organizations_closed on organizations (id) where status = 'closed';
