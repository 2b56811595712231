import { type Cycle, renewalDiscountOf } from '../../catalog/index.ts';
import { type Context, forMany, statement } from '../../platform/index.ts';

/** What is renewed. */
export interface Renewed {
  serviceId: number;
  productId: number;
  cycle: Cycle;
  currency: string;
  /** What the renewal costs without the coupon. */
  amountMinor: number;
}

const couponOfLine = forMany(
  statement<{ coupon_id: number; discount_minor: number; price_minor: number }, { serviceId: number }>(
    'billing.couponOfLine',
    `select i.coupon_id, l.discount_minor, l.price_minor + l.setup_fee_minor as price_minor from invoice_items l join invoices i on i.id = l.invoice_id
   where l.service_id = :serviceId and i.kind = 'order' and i.coupon_id is not null`,
  ),
  { serviceId: 'bigint' },
);

/** What the coupon that a service was ordered with takes off a renewal of it; 0 without one, or when it was for once. */
export async function recurringDiscountOf(ctx: Context, renewed: Renewed): Promise<number> {
  const { serviceId, ...line } = renewed;
  const ordered = await ctx.db.maybe(couponOfLine, { serviceId });
  if (ordered === null) return 0;
  const first = { firstDiscountMinor: ordered.discount_minor, firstPriceMinor: ordered.price_minor };
  return renewalDiscountOf(ctx, ordered.coupon_id, { ...line, ...first });
}
