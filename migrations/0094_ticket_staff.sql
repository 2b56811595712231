-- What staff has of its own about tickets.

create table ticket_canned_replies (
  id bigint primary key,
  name text not null,
  message text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index ticket_canned_replies_name on ticket_canned_replies (lower(name));

-- Who of staff has a reply under way, as of the last time that their page said so.
create table ticket_writers (
  ticket_id bigint not null references tickets,
  user_id bigint not null references users,
  since timestamptz not null,
  seen_at timestamptz not null,
  primary key (ticket_id, user_id)
);

-- Whether it helped: asked once, by the link in a mail.
create table ticket_feedback (
  ticket_id bigint primary key references tickets,
  organization_id bigint not null references organizations,
  -- SHA-256 of the link's token.
  hash bytea not null,
  asked_at timestamptz not null,
  helped boolean,
  answered_at timestamptz,
  check ((helped is null) = (answered_at is null))
);
create unique index ticket_feedback_hash on ticket_feedback (hash);
create index ticket_messages_moved on ticket_messages (from_ticket_id) where from_ticket_id is not null;
