-- A process of the version before, which still serves beside the new one, notes a use by (coupon_id, organization_id): so that table
-- is again what it was, and what people used stands beside it.
create table coupon_uses_of_people (
  coupon_id bigint not null references coupons,
  user_id bigint not null references users,
  uses integer not null check (uses >= 0),
  primary key (coupon_id, user_id)
);
insert into coupon_uses_of_people (coupon_id, user_id, uses)
select coupon_id, user_id, sum(uses) from coupon_uses where user_id is not null group by coupon_id, user_id;

create temporary table uses_by_organization on commit drop as
  select coupon_id, organization_id, sum(uses) as uses from coupon_uses group by coupon_id, organization_id;
delete from coupon_uses;
alter table coupon_uses drop column user_id;
insert into coupon_uses (coupon_id, organization_id, uses) select coupon_id, organization_id, uses from uses_by_organization;
alter table coupon_uses add primary key (coupon_id, organization_id);
