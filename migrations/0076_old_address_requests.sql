-- What was asked for and never answered is forgotten after a while.
create index address_requests_old on address_requests (created_at);
