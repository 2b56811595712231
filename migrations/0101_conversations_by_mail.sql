-- Mails that can be answered belong to a conversation: its answer address and its thread are made of it where they go out.
alter table mails add column conversation text, add column in_reply_to text;
