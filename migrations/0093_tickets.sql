-- What customers and the provider's people write to each other.

create table tickets (
  id bigint primary key,
  organization_id bigint not null references organizations,
  -- By which people call it: letters and digits by turns, so it is never a word.
  tid text collate "C" not null,
  -- Who opened it; null for somebody without an account.
  user_id bigint references users,
  service_id bigint references services,
  subject text not null,
  department text not null,
  priority text not null check (priority in ('low', 'medium', 'high', 'urgent')),
  status text not null check (status in ('open', 'answered', 'customer_reply', 'in_progress', 'on_hold', 'closed')),
  assigned_to bigint references users,
  created_at timestamptz not null,
  last_reply_at timestamptz not null,
  closed_at timestamptz,
  -- What it has become a part of; who asks for it gets that one.
  merged_into bigint references tickets,
  first_answer_at timestamptz,
  first_answer_due_at timestamptz,
  solution_due_at timestamptz,
  -- Opening time of the department that the solution has taken so far, without what runs since clock_since.
  used_ms bigint not null check (used_ms >= 0),
  -- Null while the customer is asked, and once it is closed.
  clock_since timestamptz,
  -- What is due first; the end of time when nothing is.
  due_at timestamptz not null,
  constraint tickets_tid unique (tid),
  constraint tickets_clock check (clock_since is null or status in ('open', 'customer_reply', 'in_progress')),
  constraint tickets_closed check ((status = 'closed') = (closed_at is not null)),
  constraint tickets_merged check (merged_into is null or status = 'closed')
);
create index tickets_by_reply on tickets (organization_id, last_reply_at, id) where merged_into is null;
create index tickets_by_age on tickets (organization_id, created_at, id) where merged_into is null;
create index tickets_by_status on tickets (organization_id, status, last_reply_at, id) where merged_into is null;
create index tickets_of_service on tickets (service_id, last_reply_at, id) where service_id is not null;
create index tickets_of_user on tickets (user_id);
create index tickets_parts on tickets (merged_into) where merged_into is not null;
-- The queue of staff, and the other orders in which they look.
create index tickets_queue on tickets (due_at, id) where status <> 'closed';
create index tickets_queue_of_one on tickets ((coalesce(assigned_to, 0)), due_at, id) where status <> 'closed';
create index tickets_queue_of_department on tickets (department, due_at, id) where status <> 'closed';
create index tickets_queue_by_status on tickets (status, due_at, id) where merged_into is null;
create index tickets_all_by_reply on tickets (last_reply_at, id) where merged_into is null;
create index tickets_all_by_age on tickets (created_at, id) where merged_into is null;

create table ticket_messages (
  id bigint primary key,
  -- In the order of writing, within a moment.
  number bigint generated always as identity,
  organization_id bigint not null references organizations,
  ticket_id bigint not null references tickets,
  -- A note is the provider's own and no customer's.
  kind text not null check (kind in ('customer', 'staff', 'note')),
  -- Null for somebody without an account, whose name and address stand beside it then.
  user_id bigint references users,
  author_name text,
  author_email text,
  message text not null,
  created_at timestamptz not null,
  -- Of which ticket it was before, when it came over from another.
  from_ticket_id bigint references tickets,
  check (user_id is not null or author_email is not null)
);
create index ticket_messages_of_ticket on ticket_messages (ticket_id, created_at, number);
create index ticket_messages_of_user on ticket_messages (user_id) where user_id is not null;

-- What search finds a ticket by. Each word has its scope in front: its organization, or staff, who alone find notes. So
-- one index serves every organization as if it were alone.
create table ticket_words (
  ticket_id bigint primary key references tickets,
  organization_id bigint not null references organizations,
  words tsvector not null
);
create index ticket_words_words on ticket_words using gin (words) with (fastupdate = off);
