-- An organization searches among its own invoices by the beginning of their numbers: a range of an index.
create index invoices_number_of_organization on invoices (organization_id, (lower(number) collate "C"), position);
