-- Money given back, and how much of each invoice that is by now.

alter table invoices
  add column refunded_minor bigint not null default 0,
  add constraint invoices_refunded check (refunded_minor between 0 and total_minor);

create table refunds (
  id bigint primary key,
  invoice_id bigint not null references invoices,
  organization_id bigint not null,
  method text not null check (method in ('credit')),
  amount_minor bigint not null check (amount_minor >= 0),
  -- The part of the amount that was tax.
  tax_minor bigint not null check (tax_minor between 0 and amount_minor),
  currency text not null,
  reason text not null,
  user_id bigint,
  created_at timestamptz not null
);
create index refunds_invoice on refunds (invoice_id);
