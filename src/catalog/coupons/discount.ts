import { allocate, fail, shareOf } from '../../platform/index.ts';
import type { Cycle } from '../cycles.ts';

/** What of a coupon decides how much it takes off: per cent, or an amount in its currency. */
export interface Discount {
  percent: number | null;
  amountMinor: number | null;
  currency: string | null;
  /** What it is for; null: everything. */
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

/**
 * What a coupon takes off each line, in the lines' order. A line that it does not cover gets 0; `invalid_coupon` when
 * that is every line, for the order would use the coupon up and get nothing for it.
 */
export function discountOf(coupon: Discount, currency: string, lines: readonly CouponLine[]): number[] {
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
  /** What the coupon took off this service in its order, and what that cost before, set-up included. */
  firstDiscountMinor: number;
  firstPriceMinor: number;
}

/**
 * What a coupon takes off a renewal: nothing unless it is recurring. Per cent count anew, of what is renewed; an amount is
 * the service's part of it in the order, so that those who were ordered together do not get it once each, and of what costs
 * less, such as a month after a year, no greater a part than it was. Dates, limits and the coupon's end are about orders:
 * who has it keeps it.
 */
export function discountOfRenewal(coupon: Discount, renewal: Renewal): number {
  const { amountMinor, firstDiscountMinor, firstPriceMinor, currency } = renewal;
  if (!coupon.recurring || !isCovered(coupon, renewal)) return 0;
  if (coupon.percent !== null) return shareOf(amountMinor, coupon.percent * 100);
  if (coupon.currency !== currency || firstPriceMinor === 0) return 0;
  const partMinor = (BigInt(amountMinor) * BigInt(firstDiscountMinor)) / BigInt(firstPriceMinor);
  return Math.min(firstDiscountMinor, Number(partMinor));
}

function isCovered({ productIds, cycles }: Discount, { productId, cycle }: CouponLine): boolean {
  return (productIds?.includes(productId) ?? true) && (cycles?.includes(cycle) ?? true);
}

function takenOff(coupon: Discount, currency: string, totalMinor: number): number {
  if (coupon.percent !== null) return shareOf(totalMinor, coupon.percent * 100);
  if (coupon.currency !== currency) throw fail('invalid_coupon');
  return Math.min(coupon.amountMinor ?? 0, totalMinor);
}
