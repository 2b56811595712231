-- What was heard of a server's BMC, and what is wrong since nothing is.
alter table server_bmcs
  add column power text check (power in ('on', 'off')),
  add column heard_at timestamptz,
  add column asked_at timestamptz,
  add column problem text,
  add column problem_since timestamptz;
create index server_bmcs_asked on server_bmcs (asked_at nulls first, server_id);
create index server_bmcs_problem on server_bmcs (problem_since desc, server_id desc) where problem is not null;
