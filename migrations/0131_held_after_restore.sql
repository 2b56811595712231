-- After a restore nothing that cannot be taken back happens by itself until staff releases it.
alter table restores add column released_at timestamptz;
-- Those before this version have been lived with. One that no worker has settled has only just happened.
update restores set released_at = settled_at;
create index restores_held on restores (id desc) where released_at is null;

-- Which comparison began and ended after which restore: `restores.id`; 0 where there was none.
alter table provider_comparisons
  add column begun_restore bigint not null default 0,
  add column ended_restore bigint not null default 0,
  add column ended_at timestamptz;
