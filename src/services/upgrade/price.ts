import type { Lots } from '../../catalog/index.ts';
import { type Coupon, discountOf, isCycle, monthsOf, type Product, priceOf } from '../../catalog/index.ts';
import { type Context, fail, requireExact } from '../../platform/index.ts';
import { prorate, prorateRise, remainingOf } from '../prorate.ts';
import type { Terms } from '../terms.ts';

/** What a service costs as another product. */
export interface Priced {
  product: Product;
  /** All options afterwards. */
  options: Record<string, unknown>;
  newPriceMinor: number;
  lots: Lots;
  /** Due now for the days that remain, before a coupon and tax. */
  chargeMinor: number;
  /** What those days were worth so far; it is off the charge already. */
  creditMinor: number;
  discountMinor: number;
}

/**
 * Prices the change of a service whose period runs, at today's prices. A change to what costs less gives nothing back:
 * what is paid is the customer's to use or to lose.
 */
export function priceChange(
  ctx: Context,
  service: Terms & { duedate: string },
  { product, options }: Pick<Priced, 'product' | 'options'>,
  coupon: Coupon | null = null,
): Priced {
  const { cycle, duedate: dueDate, periodStart, anchorDay } = service;
  if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
  const price = priceOf(product, cycle, options);
  if (price === null) throw new Error(`${product.name} is not sold ${cycle}`);
  const newPriceMinor = requireExact(price.recurringMinor);
  const today = ctx.clock.now().toISOString().slice(0, 10);
  const remaining = remainingOf({ today, dueDate, months: monthsOf[cycle], periodStart, anchorDay });
  const chargeMinor = requireExact(prorateRise(service.priceMinor, newPriceMinor, remaining));
  const creditMinor = requireExact(prorate(Math.min(service.priceMinor, newPriceMinor), remaining));
  const [discountMinor = 0] =
    coupon === null
      ? []
      : discountOf(coupon, service.currency, [{ productId: product.id, cycle, amountMinor: chargeMinor }]);
  return { product, options, newPriceMinor, lots: price.lots, chargeMinor, creditMinor, discountMinor };
}

/** A service whose period runs; the table of states has said so. */
export function withDueDate(service: Terms): Terms & { duedate: string } {
  const { duedate } = service;
  if (duedate === null) throw fail('conflict');
  return { ...service, duedate };
}
