-- What is counted every few seconds for whoever watches the product is counted by an index.

create index mails_queued on mails (created_at) where state = 'queued';
create index machines_state on machines (state);
