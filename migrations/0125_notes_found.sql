-- Services are found by how their note begins: a range of an index, as by their names.
create index services_note on services (organization_id, (lower(left(note, 200)) collate "C"), position)
  where note is not null;
