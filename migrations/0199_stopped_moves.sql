-- Since when a move waits, with the service off, for what does not come by itself: a switch or a BMC that is silent. `problem` says for what. Null: it does not.
alter table dedicated_moves
  add column stopped_at timestamptz,
  add constraint dedicated_moves_stopped check (stopped_at is null or (ended_at is null and problem is not null));
create index dedicated_moves_stopped on dedicated_moves (stopped_at, id) where stopped_at is not null;
