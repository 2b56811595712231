-- How often somebody used a coupon counts whichever of their organizations they ordered for. Null: it is not known any more who did.
alter table coupon_uses
  drop constraint coupon_uses_pkey,
  add column user_id bigint references users,
  add constraint coupon_uses_once unique nulls not distinct (coupon_id, organization_id, user_id);
create index coupon_uses_person on coupon_uses (coupon_id, user_id);
