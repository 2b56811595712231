-- Coupons for some cycles, for every payment instead of the first alone, and so many times a customer.

alter table coupons
  -- Null: every cycle.
  add column cycles text[] check (cycles <@ array['monthly', 'quarterly', 'semiannually', 'annually', 'biennially',
    'triennially']),
  -- Whether renewals are cheaper too.
  add column recurring boolean not null default false,
  -- Null: no limit.
  add column max_uses_per_customer integer check (max_uses_per_customer > 0),
  add constraint coupons_days check (starts_at < expires_at);

create table coupon_uses (
  coupon_id bigint not null references coupons,
  organization_id bigint not null references organizations,
  uses integer not null check (uses >= 0),
  primary key (coupon_id, organization_id)
);
insert into coupon_uses (coupon_id, organization_id, uses)
select coupon_id, organization_id, count(*) from invoices
where coupon_id is not null and status not in ('cancelled', 'refunded') group by coupon_id, organization_id;
