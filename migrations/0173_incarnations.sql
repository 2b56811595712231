-- What a recovery makes its machine anew as: each attempt is another, so that what one before has left is never taken for what is made now.
alter table vps_recoveries add column incarnation integer;

-- Backups that the cluster keeps none of are lost as snapshots are.
alter table vps_evacuations rename column drops_snapshots to drops_copies;

-- When the machines of a cluster were compared last: after a restore nothing is started before it is known what every cluster has.
alter table clusters add column compared_at timestamptz;
