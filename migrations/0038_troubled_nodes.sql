-- What a node's host lacks, in words for staff: such a node gets no new machines. Null: nothing.
alter table nodes
  add column trouble text,
  add column troubled_at timestamptz,
  add check ((trouble is null) = (troubled_at is null));
