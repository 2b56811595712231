-- A bank that has taken money may give it back, when the payment provider corrects itself: how much of its charge it counted
-- as, and what of it was our loss.
alter table charge_returns add column counted_minor bigint not null default 0, add column loss_minor bigint not null default 0;
update charge_returns r set counted_minor = least(r.amount_minor, c.returned_minor) from charges c where c.id = r.charge_id;

-- What belongs to a service is looked for by it.
create index service_renewals_service on service_renewals (service_id, created_at);
create index service_changes_service on service_changes (service_id, created_at);
create index payment_promises_service on payment_promises (service_id);
create index recurring_changes_service on recurring_changes (service_id);
create index service_price_moves_service on service_price_moves (service_id);
create index vps_upgrades_service on vps_upgrades (service_id);
create index console_tickets_service on console_tickets (service_id);
create index tickets_service on tickets (service_id);

-- Days of a service were given back whose money a bank holds: what they are worth goes back once that is decided.
create table service_returns (
  id bigint primary key,
  service_id bigint not null references services,
  invoice_id bigint not null references invoices,
  organization_id bigint not null references organizations,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  created_at timestamptz not null
);
create index service_returns_invoice on service_returns (invoice_id);
create index service_returns_service on service_returns (service_id);
create index service_returns_organization on service_returns (organization_id);

-- Staff lists what went back and what banks ask about, all of it or of one organization.
create index refunds_created on refunds (created_at, id);
create index refunds_organization on refunds (organization_id, created_at, id);
create index disputes_opened on disputes (opened_at, id);
create index disputes_organization on disputes (organization_id, opened_at, id);
create index disputes_invoice on disputes (invoice_id);
