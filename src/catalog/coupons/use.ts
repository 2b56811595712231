import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';
import { type Discount, discountOfRenewal, type Renewal } from './discount.ts';

export interface Coupon extends Discount {
  id: number;
  code: string;
  maxUses: number | null;
  uses: number;
  maxUsesPerCustomer: number | null;
  /** How often the organization that asks used it, or who asks, for whichever organization: whichever is more. */
  usesOfCustomer: number;
}

// By organization and by person apart: a process of the version before, beside this one, knows of organizations alone. What it gave
// back stays with the person, who used no more than the organizations that they ordered for with the coupon.
const usesOfCustomer = (coupon: string) =>
  `greatest((select o.uses from coupon_uses o where o.coupon_id = ${coupon} and o.organization_id = :organizationId),
     (select least(p.uses, (select sum(u.uses) from coupon_uses u where u.coupon_id = p.coupon_id and u.organization_id in
        (select i.organization_id from invoices i where i.coupon_id = p.coupon_id and i.user_id = p.user_id)))
      from coupon_uses_of_people p where p.coupon_id = ${coupon} and p.user_id = :userId), 0)::int`;
const selectCoupon = `select c.id, c.code, c.percent, c.amount_minor as "amountMinor", c.currency,
     c.max_uses as "maxUses", c.uses, c.max_uses_per_customer as "maxUsesPerCustomer",
     ${usesOfCustomer('c.id')} as "usesOfCustomer",
     c.product_ids::float8[] as "productIds", c.cycles, c.recurring
   from coupons c`;

interface Who {
  organizationId: number | null;
  userId: number | null;
}

const couponByCode = statement<Coupon, Who & { code: string; now: Date }>(
  'catalog.couponByCode',
  `${selectCoupon}
   where lower(c.code) = lower(:code) and c.active and (c.starts_at is null or c.starts_at <= :now)
     and (c.expires_at is null or c.expires_at > :now)`,
);
const couponById = statement<Coupon, Who & { id: number }>(
  'catalog.couponById',
  `${selectCoupon} where c.id = :id`,
);
// The coupon's row is held from then on, so of those who use it at once each counts after the other.
const useCoupon = statement<{ most: number | null }, { id: number }>(
  'catalog.useCoupon',
  `update coupons set uses = uses + 1 where id = :id and active and (max_uses is null or uses < max_uses)
   returning max_uses_per_customer as most`,
);
const noteUse = statement<
  { id: number },
  { id: number; organizationId: number; userId: number | null; most: number | null }
>(
  'catalog.noteCouponUse',
  `with mine as (
     insert into coupon_uses_of_people as p (coupon_id, user_id, uses) select :id, :userId::bigint, 1
     where :userId::bigint is not null and (:most::int is null or :most::int > ${usesOfCustomer(':id')})
     on conflict (coupon_id, user_id) do update set uses = p.uses + 1)
   insert into coupon_uses as o (coupon_id, organization_id, uses) select :id, :organizationId::bigint, 1
   where :most::int is null or :most::int > ${usesOfCustomer(':id')}
   on conflict (coupon_id, organization_id) do update set uses = o.uses + 1 returning o.coupon_id as id`,
);
const giveCouponBack = statement<never, { couponId: number; organizationId: number; userId: number | null }>(
  'catalog.giveCouponBack',
  `with back as (update coupons set uses = uses - 1 where id = :couponId and uses > 0 returning id),
   mine as (
     update coupon_uses_of_people set uses = uses - 1
     where coupon_id = (select id from back) and user_id = :userId and uses > 0)
   update coupon_uses set uses = uses - 1
   where coupon_id = (select id from back) and organization_id = :organizationId and uses > 0`,
);

/** The coupon of that code, usable now by who asks; `invalid_coupon` otherwise. */
export async function requireCoupon(ctx: Context, code: string): Promise<Coupon> {
  const { organizationId } = ctx;
  const who = { organizationId, userId: ctx.actor.userId };
  const coupon = await ctx.db.maybe(couponByCode, { code, ...who, now: ctx.clock.now() });
  if (coupon === null) throw fail('invalid_coupon');
  const isUsedUp = coupon.maxUses !== null && coupon.uses >= coupon.maxUses;
  const most = coupon.maxUsesPerCustomer;
  if (isUsedUp || (most !== null && coupon.usesOfCustomer >= most)) throw fail('invalid_coupon');
  return coupon;
}

/**
 * Uses the coupon once for an organization, and for the person who orders, until {@link returnCoupon}; `invalid_coupon` when other
 * orders took the last use meanwhile, all there were or all that the organization or the person has.
 */
export async function redeemCoupon(
  ctx: TxContext,
  { id }: Pick<Coupon, 'id'>,
  organizationId: number,
): Promise<void> {
  const used = await ctx.db.maybe(useCoupon, { id });
  if (used === null) throw fail('invalid_coupon');
  const who = { organizationId, userId: ctx.actor.userId };
  if ((await ctx.db.maybe(noteUse, { id, ...who, most: used.most })) === null) throw fail('invalid_coupon');
}

/** Gives the use of an order that nobody paid back to who ordered it. */
export async function returnCoupon(
  ctx: TxContext,
  couponId: number,
  { organizationId, userId }: { organizationId: number; userId: number | null },
): Promise<void> {
  await ctx.db.run(giveCouponBack, { couponId, organizationId, userId });
}

/** What a coupon takes off a renewal ({@link discountOfRenewal}). */
export async function renewalDiscountOf(ctx: Context, couponId: number, renewal: Renewal): Promise<number> {
  const coupon = await ctx.db.one(couponById, { id: couponId, organizationId: null, userId: null });
  return discountOfRenewal(coupon, renewal);
}
