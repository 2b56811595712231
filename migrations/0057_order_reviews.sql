-- Paid orders that staff looks at before they are delivered, and what came of it.
create table order_reviews (
  invoice_id bigint primary key,
  organization_id bigint not null,
  -- The rules that held it, in words for staff.
  reasons text[] not null,
  status text not null check (status in ('held', 'released', 'refused')),
  held_at timestamptz not null,
  decided_at timestamptz,
  decided_by bigint,
  note text,
  check ((status = 'held') = (decided_at is null))
);
create index order_reviews_held on order_reviews (held_at, invoice_id) where status = 'held';
create index invoices_orders on invoices (created_at, id) where kind = 'order';
