-- People close their accounts, and with them the organizations that nobody else is in.

alter table organizations
  -- `blocked`: staff lets nothing new be ordered. `closed`: nobody is in it any more.
  add column status text not null default 'active' check (status in ('active', 'blocked', 'closed')),
  add column status_since timestamptz,
  -- Why it is blocked.
  add column status_reason text;

-- The address of a closed account, for a week: the last mail goes there, and those before are forgotten by it.
alter table email_changes drop constraint email_changes_state_check;
alter table email_changes add constraint email_changes_state_check
  check (state in ('asked', 'replaced', 'taken', 'confirmed', 'closed'));
