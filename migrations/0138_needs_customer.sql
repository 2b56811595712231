-- A bank that wants its customer there has declined nothing: whoever waits for the payment is told to confirm it on a page.
alter table charges add column needs_customer boolean not null default false;
