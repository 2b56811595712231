-- The files of mails that arrive: named here before their first byte, and no more once the mail has a row. What stays is taken away.
create table ticket_mail_files (
  file text collate "C" primary key,
  begun_at timestamptz not null
);
create index ticket_mail_files_begun on ticket_mail_files (begun_at, file);

-- What a client is counted by: its address, or of IPv6 the network around it.
alter table ticket_mails add column client_network text;
update ticket_mails set client_network = client_ip where client_ip is not null;
