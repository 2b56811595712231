-- The journal: what happened, to what, by whom, in which organization. Append-only; everything that tells of
-- what happened reads it.

create table journal (
  id bigint generated always as identity primary key,
  organization_id bigint,
  action text not null,
  subject_type text not null,
  subject_id bigint not null,
  actor_type text not null check (actor_type in ('user', 'api_key', 'staff', 'system')),
  user_id bigint,
  api_key_id bigint,
  ip inet,
  request_id text,
  data jsonb not null,
  created_at timestamptz not null
);
create index journal_organization on journal (organization_id, id desc);
create index journal_subject on journal (subject_type, subject_id, id desc);

create table mails (
  id bigint primary key,
  organization_id bigint,
  -- The entry that the mail tells of; one mail a template and entry.
  journal_id bigint not null references journal,
  template text not null,
  recipient text not null,
  subject text not null,
  body text not null,
  -- `kept`: no SMTP server is configured.
  state text not null check (state in ('queued', 'kept', 'sent', 'failed')),
  error text,
  created_at timestamptz not null,
  sent_at timestamptz,
  constraint mails_once unique (journal_id, template, recipient)
);
create index mails_newest on mails (created_at desc, id desc);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger journal_append_only before update or delete on journal
  for each row execute function refuse_change();
