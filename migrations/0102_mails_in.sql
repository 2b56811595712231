-- Mails that came in, each once, with what became of it. The mail itself is a file.
create table ticket_mails (
  id bigint primary key,
  -- Of the whole mail, SHA-256: what has come already is not taken twice.
  digest bytea not null,
  file text not null,
  size_bytes integer not null,
  -- Where it comes back to, '' for nowhere; null where nobody said.
  return_path text,
  -- For whom it was, as its server said.
  recipients text[] not null,
  -- Who brought it; null where it was fetched.
  client_ip text,
  client_name text,
  is_cut boolean not null,
  received_at timestamptz not null,
  -- From here on as it was read. `received` until then.
  state text not null check (state in
    ('received', 'reply', 'note', 'machine', 'report', 'repeated', 'unclaimed', 'assigned', 'deleted')),
  -- Why it became no reply: a code.
  reason text,
  message_id text,
  from_name text,
  from_address text,
  subject text,
  text text,
  quoted text,
  -- Names, types and sizes.
  attachments jsonb,
  decided_at timestamptz,
  -- Where it went.
  organization_id bigint references organizations,
  ticket_id bigint references tickets,
  user_id bigint references users,
  ticket_message_id bigint references ticket_messages,
  -- It opened a ticket again that was closed.
  reopened boolean not null default false,
  constraint ticket_mails_once unique (digest),
  check ((state = 'received') = (decided_at is null))
);
create index ticket_mails_unclaimed on ticket_mails (received_at, id) where state = 'unclaimed';
create index ticket_mails_of_ticket on ticket_mails (ticket_id, decided_at) where ticket_id is not null;
create index ticket_mails_of_user on ticket_mails (user_id, decided_at) where user_id is not null;
create index ticket_mails_old on ticket_mails (decided_at, id) where state in ('machine', 'report', 'repeated');

-- How it stands with whoever brings the mails.
create table ticket_mail_source (
  one boolean primary key default true check (one),
  failing_since timestamptz,
  problem text
);

-- What a mail quoted stands apart from what was written in it.
alter table ticket_messages add column quoted text;
create index ticket_mails_of_message on ticket_mails (ticket_message_id) where ticket_message_id is not null;
