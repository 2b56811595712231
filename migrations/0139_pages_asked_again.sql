-- How often it was asked about the pages of a charge's invoice, when this one was asked about last.
alter table charges add column page_asks integer not null default 0;
