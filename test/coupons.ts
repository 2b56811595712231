import { randomBytes } from 'node:crypto';
import type { TestProduct } from './product.ts';
import { sql } from './sql.ts';

export interface NewCoupon {
  percent?: number;
  amountMinor?: number;
  currency?: string;
  maxUses?: number;
  productIds?: number[];
  startsAt?: Date;
  expiresAt?: Date;
  active?: boolean;
}

/** A coupon of any kind, under a code of its own. Returns the code. */
export async function newCoupon(product: TestProduct, coupon: NewCoupon): Promise<string> {
  const code = `C-${randomBytes(5).toString('hex')}`;
  await sql(
    product,
    `insert into coupons (code, percent, amount_minor, currency, max_uses, product_ids, starts_at, expires_at, active,
       created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())`,
    ...[code, coupon.percent ?? null, coupon.amountMinor ?? null],
    coupon.amountMinor === undefined ? null : (coupon.currency ?? 'EUR'),
    ...[coupon.maxUses ?? null, coupon.productIds ?? null, coupon.startsAt ?? null, coupon.expiresAt ?? null],
    coupon.active ?? true,
  );
  return code;
}
