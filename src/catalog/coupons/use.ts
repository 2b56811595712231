import { allocate, type Context, fail, shareOf, statement, type TxContext } from '../../platform/index.ts';
import type { Cycle } from '../cycles.ts';

export interface Coupon {
  id: number;
  code: string;
  percent: number | null;
  amountMinor: number | null;
  currency: string | null;
  maxUses: number | null;
  uses: number;
  maxUsesPerCustomer: number | null;
  /** How often the organization that asks used it. */
  usesOfCustomer: number;
  productIds: number[] | null;
  cycles: Cycle[] | null;
  /** Whether renewals are cheaper too. */
  recurring: boolean;
}

/** Something that a coupon may take something off. */
export interface CouponLine {
  productId: number;
  cycle: Cycle;
  amountMinor: number;
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

/**
 * What a coupon takes off each line, in the lines' order. A line that it does not cover gets 0; `invalid_coupon` when
 * that is every line, for the order would use the coupon up and get nothing for it.
 */
export function discountOf(coupon: Coupon, currency: string, lines: readonly CouponLine[]): number[] {
  const covered = lines.map((line) => (isCovered(coupon, line) ? line.amountMinor : 0));
  const total = covered.reduce((a, b) => a + b, 0);
  const discountMinor = takenOff(coupon, currency, total);
  if (discountMinor === 0) {
    const message = 'takes nothing off what is in the cart';
    throw fail('invalid_coupon', { details: [{ field: 'couponcode', message }] });
  }
  return allocate(discountMinor, covered);
}

/** A renewal of what was ordered with a coupon. */
export interface Renewal extends CouponLine {
  currency: string;
  /** What the coupon took off this service in its order. */
  firstDiscountMinor: number;
}

/**
 * What a coupon takes off a renewal: nothing unless it is recurring. Per cent count anew, of what is renewed; an amount is
 * the service's part of it in the order, so that those who were ordered together do not get it once each. Dates, limits
 * and the coupon's end are about orders: who has it keeps it.
 */
export async function renewalDiscountOf(ctx: Context, couponId: number, renewal: Renewal): Promise<number> {
  const coupon = await ctx.db.one(couponById, { id: couponId, organizationId: null });
  return discountOfRenewal(coupon, renewal);
}

export function discountOfRenewal(coupon: Coupon, renewal: Renewal): number {
  const { amountMinor, firstDiscountMinor, currency } = renewal;
  if (!coupon.recurring || !isCovered(coupon, renewal)) return 0;
  if (coupon.percent !== null) return shareOf(amountMinor, coupon.percent * 100);
  return coupon.currency === currency ? Math.min(firstDiscountMinor, amountMinor) : 0;
}

function isCovered({ productIds, cycles }: Coupon, { productId, cycle }: CouponLine): boolean {
  return (productIds?.includes(productId) ?? true) && (cycles?.includes(cycle) ?? true);
}

function takenOff(coupon: Coupon, currency: string, totalMinor: number): number {
  if (coupon.percent !== null) return shareOf(totalMinor, coupon.percent * 100);
  if (coupon.currency !== currency) throw fail('invalid_coupon');
  return Math.min(coupon.amountMinor ?? 0, totalMinor);
}
