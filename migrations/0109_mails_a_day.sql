-- How much was brought within a day that belongs to no ticket.
create index ticket_mails_lately on ticket_mails (received_at) where ticket_id is null;
