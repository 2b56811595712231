-- What a worker can do, as a hash of the kinds of jobs that it knows: those that know the same take turns at looking first. Null: of an older version.
alter table workers add column kinds text;
