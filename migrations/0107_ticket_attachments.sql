-- Files that stand beside what somebody wrote in a ticket. The bytes are kept by the driver for files; the row is there before
-- them, so that no file is ever without one.
create table ticket_attachments (
  id bigint primary key,
  -- In the order in which they were sent.
  number bigint generated always as identity,
  organization_id bigint not null references organizations,
  -- Null until what it belongs to is written; what stays without one is taken away again.
  message_id bigint references ticket_messages,
  -- Under which the driver keeps it.
  file text collate "C" not null,
  name text,
  -- What its first bytes say; null until it is there whole.
  type text,
  -- As much as it may become, while it arrives.
  bytes bigint not null check (bytes >= 0),
  digest bytea,
  created_at timestamptz not null,
  kept_at timestamptz,
  -- Where it could not be kept: since when, and what the driver said.
  failed_at timestamptz,
  failure text,
  -- From then on nobody gets it, and its file goes.
  forgotten_at timestamptz,
  constraint ticket_attachments_file unique (file),
  check ((kept_at is null) = (digest is null) and (kept_at is null) = (type is null)),
  check (message_id is null or (kept_at is not null and name is not null and forgotten_at is null)),
  check ((failed_at is null) = (failure is null))
);
create index ticket_attachments_of_message on ticket_attachments (message_id, number) where message_id is not null;
create index ticket_attachments_of_day on ticket_attachments (organization_id, created_at);
create index ticket_attachments_unused on ticket_attachments (created_at, id) where message_id is null;
create index ticket_attachments_failed on ticket_attachments (failed_at, id) where failed_at is not null;
create index ticket_attachments_kept on ticket_attachments (kept_at) where kept_at is not null;
