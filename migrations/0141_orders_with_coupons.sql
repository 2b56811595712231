-- outside a transaction
-- For which organizations somebody used a coupon.
create index concurrently if not exists invoices_coupon on invoices (coupon_id, user_id, organization_id)
  where coupon_id is not null;
