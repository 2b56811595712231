-- Whether a mail came to an address at which somebody may answer: what strangers send takes nothing from those. A version
-- before this one writes none, and counts all together.
alter table ticket_mails add column to_answer boolean not null default false;
