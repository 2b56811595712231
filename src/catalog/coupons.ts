import { allocate, type Context, fail, shareOf, statement, type TxContext } from '../platform/index.ts';

export interface Coupon {
  id: number;
  code: string;
  percent: number | null;
  amountMinor: number | null;
  currency: string | null;
  maxUses: number | null;
  uses: number;
  productIds: number[] | null;
}

const couponByCode = statement<Coupon, { code: string; now: Date }>(
  'catalog.couponByCode',
  `select id, code, percent, amount_minor as "amountMinor", currency, max_uses as "maxUses", uses,
     product_ids::float8[] as "productIds"
   from coupons
   where lower(code) = lower(:code) and active and (starts_at is null or starts_at <= :now)
     and (expires_at is null or expires_at > :now)`,
);
const useCoupon = statement<never, { id: number }>(
  'catalog.useCoupon',
  'update coupons set uses = uses + 1 where id = :id and active and (max_uses is null or uses < max_uses)',
);
const giveCouponBack = statement<never, { couponId: number }>(
  'catalog.giveCouponBack',
  'update coupons set uses = uses - 1 where id = :couponId and uses > 0',
);
const insertCoupon = statement<
  { id: number },
  { code: string; percent: number; maxUses: number | null; now: Date }
>(
  'catalog.insertCoupon',
  `insert into coupons (code, percent, max_uses, created_at) values (:code, :percent, :maxUses, :now)
   returning id`,
);

/** The coupon of that code, usable now; `invalid_coupon` otherwise. */
export async function requireCoupon(ctx: Context, code: string): Promise<Coupon> {
  const coupon = await ctx.db.maybe(couponByCode, { code, now: ctx.clock.now() });
  if (coupon === null || (coupon.maxUses !== null && coupon.uses >= coupon.maxUses))
    throw fail('invalid_coupon');
  return coupon;
}

/** Uses the coupon once; `invalid_coupon` when another order took the last use meanwhile. */
export async function redeemCoupon(ctx: TxContext, coupon: Coupon): Promise<void> {
  if ((await ctx.db.run(useCoupon, { id: coupon.id })) === 0) throw fail('invalid_coupon');
}

/** Gives the use of an order that nobody paid back. */
export async function returnCoupon(ctx: TxContext, couponId: number): Promise<void> {
  await ctx.db.run(giveCouponBack, { couponId });
}

/** Makes a coupon of so many per cent. Returns its id. */
export async function createCoupon(ctx: Context, code: string, percent: number, maxUses: number | null) {
  return (await ctx.db.one(insertCoupon, { code, percent, maxUses, now: ctx.clock.now() })).id;
}

/**
 * What a coupon takes off each line, in the lines' order. A line that it does not cover gets 0; `invalid_coupon` when
 * that is every line, for the order would use the coupon up and get nothing for it.
 */
export function discountOf(
  coupon: Coupon,
  currency: string,
  lines: readonly { productId: number; amountMinor: number }[],
): number[] {
  const covered = lines.map((line) =>
    coupon.productIds === null || coupon.productIds.includes(line.productId) ? line.amountMinor : 0,
  );
  const total = covered.reduce((a, b) => a + b, 0);
  const discountMinor = takenOff(coupon, currency, total);
  if (discountMinor === 0) {
    const message = 'takes nothing off what is in the cart';
    throw fail('invalid_coupon', { details: [{ field: 'couponcode', message }] });
  }
  return allocate(discountMinor, covered);
}

function takenOff(coupon: Coupon, currency: string, totalMinor: number): number {
  if (coupon.percent !== null) return shareOf(totalMinor, coupon.percent * 100);
  if (coupon.currency !== currency) throw fail('invalid_coupon');
  return Math.min(coupon.amountMinor ?? 0, totalMinor);
}
