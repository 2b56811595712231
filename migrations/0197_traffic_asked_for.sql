-- Nobody knows its 95th percentile: nothing is asked for it, and staff is told for a while.
alter table service_traffic add column is_unknown boolean not null default false;
create index service_traffic_unknown on service_traffic (settled_at) where is_unknown;

-- Invoices that asked for it before and whose money a bank took back: where the bank gives it again, it is not asked for a second time.
alter table service_traffic add column taken_back bigint[] not null default '{}';
create index service_traffic_taken_back on service_traffic using gin (taken_back);

-- What no invoice asks for yet is looked for every hour.
create index service_traffic_open on service_traffic (service_id) where invoice_id is null and amount_minor > 0;
