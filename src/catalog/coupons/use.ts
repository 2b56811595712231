import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';
import { type Discount, discountOfRenewal, type Renewal } from './discount.ts';

export interface Coupon extends Discount {
  id: number;
  code: string;
  maxUses: number | null;
  uses: number;
  maxUsesPerCustomer: number | null;
  /** How often the organization that asks used it. */
  usesOfCustomer: number;
}

const selectCoupon = `select c.id, c.code, c.percent, c.amount_minor as "amountMinor", c.currency,
     c.max_uses as "maxUses", c.uses, c.max_uses_per_customer as "maxUsesPerCustomer",
     coalesce(u.uses, 0) as "usesOfCustomer", c.product_ids::float8[] as "productIds", c.cycles, c.recurring
   from coupons c left join coupon_uses u on u.coupon_id = c.id and u.organization_id = :organizationId`;

const couponByCode = statement<Coupon, { code: string; organizationId: number | null; now: Date }>(
  'catalog.couponByCode',
  `${selectCoupon}
   where lower(c.code) = lower(:code) and c.active and (c.starts_at is null or c.starts_at <= :now)
     and (c.expires_at is null or c.expires_at > :now)`,
);
const couponById = statement<Coupon, { id: number; organizationId: number | null }>(
  'catalog.couponById',
  `${selectCoupon} where c.id = :id`,
);
// The coupon's row is held from the first part on, so of those who use it at once each counts after the other.
const useCoupon = statement<{ used: number; mine: number }, { id: number; organizationId: number }>(
  'catalog.useCoupon',
  `with used as (
     update coupons set uses = uses + 1 where id = :id and active and (max_uses is null or uses < max_uses)
     returning max_uses_per_customer as most),
   mine as (
     insert into coupon_uses as u (coupon_id, organization_id, uses) select :id, :organizationId::bigint, 1 from used
     on conflict (coupon_id, organization_id) do update set uses = u.uses + 1
       where u.uses < coalesce((select most from used), u.uses + 1)
     returning 1)
   select (select count(*)::int from used) as used, (select count(*)::int from mine) as mine`,
);
const giveCouponBack = statement<never, { couponId: number; organizationId: number }>(
  'catalog.giveCouponBack',
  `with back as (update coupons set uses = uses - 1 where id = :couponId and uses > 0 returning id)
   update coupon_uses set uses = uses - 1
   where coupon_id = (select id from back) and organization_id = :organizationId and uses > 0`,
);

/** The coupon of that code, usable now by who asks; `invalid_coupon` otherwise. */
export async function requireCoupon(ctx: Context, code: string): Promise<Coupon> {
  const { organizationId } = ctx;
  const coupon = await ctx.db.maybe(couponByCode, { code, organizationId, now: ctx.clock.now() });
  if (coupon === null) throw fail('invalid_coupon');
  const isUsedUp = coupon.maxUses !== null && coupon.uses >= coupon.maxUses;
  const most = coupon.maxUsesPerCustomer;
  if (isUsedUp || (most !== null && coupon.usesOfCustomer >= most)) throw fail('invalid_coupon');
  return coupon;
}

/**
 * Uses the coupon once for an organization, until {@link returnCoupon}; `invalid_coupon` when other orders took the last
 * use meanwhile, all there were or all that the organization has.
 */
export async function redeemCoupon(
  ctx: TxContext,
  { id }: Pick<Coupon, 'id'>,
  organizationId: number,
): Promise<void> {
  const { used, mine } = await ctx.db.one(useCoupon, { id, organizationId });
  if (used === 0 || mine === 0) throw fail('invalid_coupon');
}

/** Gives the use of an order that nobody paid back. */
export async function returnCoupon(ctx: TxContext, couponId: number, organizationId: number): Promise<void> {
  await ctx.db.run(giveCouponBack, { couponId, organizationId });
}

/** What a coupon takes off a renewal ({@link discountOfRenewal}). */
export async function renewalDiscountOf(ctx: Context, couponId: number, renewal: Renewal): Promise<number> {
  const coupon = await ctx.db.one(couponById, { id: couponId, organizationId: null });
  return discountOfRenewal(coupon, renewal);
}
