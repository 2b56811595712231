-- Mails are lists of blocks, in their reader's language, and the log keeps what the server said to them.
alter table mails
  add column blocks jsonb,
  add column language text not null default 'en',
  -- What it is about that its reader may have switched off; null: everybody is told.
  add column about text,
  add column user_id bigint,
  add column sendings integer not null default 1,
  add column answer text;
