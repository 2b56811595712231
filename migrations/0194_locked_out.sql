-- Since when the BMC of a server that comes back does not let us in, so that whoever starts from the network as that server is to give it our account from
-- inside; null: it does.
alter table server_assignments add column locked_out_at timestamptz;
-- What a start said of that: it gave its own BMC the password that was made for this start alone, or why it could not.
alter table server_starts
  add column inside_at timestamptz,
  add column inside_problem text;
create index server_assignments_locked_out on server_assignments (locked_out_at desc, id desc) where locked_out_at is not null;
