-- What staff was told of by mail: each thing once as long as it lasts, and mails of a kind not too close together.

create table staff_concerns (
  kind text not null,
  subject_id bigint not null,
  told boolean not null default false,
  primary key (kind, subject_id)
);
create table staff_mailings (
  kind text primary key,
  told_at timestamptz not null
);

create index mails_failed on mails (created_at desc, id desc) where state = 'failed';
create index services_failed on services (created_at desc, id desc)
  where status = 'pending' and provisioning_state in ('failed', 'running');
create index machines_in_error on machines (service_id) where state = 'error';
