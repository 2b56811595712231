-- What a recovery makes its machine anew as: each attempt is another, so that what one before has left is never taken for what is made now.
alter table vps_recoveries
  add column incarnation integer,
  -- Nobody can say that what has this name is of this attempt: it may be the machine.
  add column is_disowned boolean not null default false;
alter table vps_moves add column is_disowned boolean not null default false;

-- Backups that the cluster keeps none of are lost as snapshots are.
alter table vps_evacuations rename column drops_snapshots to drops_copies;

-- Why none of its machines begins by itself any more: one that went before does not answer where it is now.
alter table vps_evacuations add column halted_for text;

-- When all machines of a cluster were compared last: after a restore nothing is started that may be there before it is known what it has.
alter table clusters add column compared_at timestamptz;
update clusters set compared_at = answered_at;
