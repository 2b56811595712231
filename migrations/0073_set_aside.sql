-- What periodic jobs could not do anything about: it keeps nothing else waiting, is tried again, and stands in staff's list.
create table set_aside (
  job text not null,
  -- Of what the job is about: an invoice, a service.
  row_id bigint not null,
  organization_id bigint,
  problem text not null,
  since timestamptz not null,
  again_at timestamptz not null,
  primary key (job, row_id)
);
create index set_aside_newest on set_aside (since desc, row_id desc);
